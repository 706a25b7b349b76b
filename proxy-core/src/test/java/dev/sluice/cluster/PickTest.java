package dev.sluice.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Cluster.Outcome;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What may be picked, and that what was begun is counted until it ends. */
class PickTest {
  @Test
  void whatWasTriedIsNotPickedAgain() {
    ClusterFixture fixture = new ClusterFixture(3);
    List<LiveEndpoint> tried = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      LiveEndpoint picked = fixture.pick(tried);
      assertThat(tried).doesNotContain(picked);
      tried.add(picked);
    }

    assertThat(fixture.cluster.pick(Cluster.NO_PREFIX, tried, fixture.nowNanos)).isNull();
  }

  @Test
  void aSingleEndpointIsPickedWhateverItsFailures() {
    ClusterFixture fixture = new ClusterFixture(1);
    fixture.fail(fixture.endpoint(0), 1000);
    fixture.refuse(fixture.endpoint(0), 60);

    assertThat(fixture.pick()).isSameAs(fixture.endpoint(0));
    assertThat(fixture.pickOrNone(fixture.endpoint(0))).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 10})
  void aPickLeavesNoGarbage(int endpoints) {
    ClusterFixture fixture = new ClusterFixture(endpoints);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = 0;
    for (int round = 0; round < 3; round++) { // the first rounds load classes
      before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 10_000; i++) {
        LiveEndpoint picked = fixture.pick(List.of());
        fixture.cluster.ended(picked, Outcome.ANSWERED, 0, fixture.nowNanos);
      }
    }

    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
  }

  /** Whatever happens to endpoints and however attempts end, nothing stays open. */
  @ParameterizedTest
  @EnumSource(Balance.class)
  void openCountsComeBackToZero(Balance balance) throws Exception {
    Model[] models = {
      ClusterFixture.model(balance, Probe.DEFAULT, 1, 2, 3),
      ClusterFixture.model(balance, Probe.DEFAULT, 1, 1, 3, 4),
    };
    ClusterFixture fixture = new ClusterFixture(models[1]);
    List<LiveEndpoint> every = fixture.cluster.endpoints();
    AtomicInteger retries = new AtomicInteger();
    CountDownLatch begin = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 3; t++) {
      long seed = t;
      Thread thread = new Thread(() -> new Chaos(fixture, models, begin, retries, seed).run());
      thread.start();
      threads.add(thread);
    }
    begin.countDown();
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(every).extracting(LiveEndpoint::openExchanges).containsOnly(0);
    assertThat(fixture.cluster.endpoints()).extracting(LiveEndpoint::openExchanges).containsOnly(0);
    assertThat(retries).hasPositiveValue();
    for (int i = 0; i < RetryBudget.ALWAYS; i++) {
      assertThat(fixture.cluster.tryBeginRetry()).isTrue();
    }
    assertThat(fixture.cluster.tryBeginRetry()).isFalse();
  }

  /** One thread of exchanges, with reloads, probes and operators between them. */
  private static final class Chaos implements Runnable {
    private record Open(Cluster cluster, LiveEndpoint endpoint, boolean retry) {}

    private final ClusterFixture fixture;
    private final Model[] models;
    private final CountDownLatch begin;
    private final AtomicInteger retries;
    private final Random random;
    private final List<Open> open = new ArrayList<>();

    Chaos(
        ClusterFixture fixture,
        Model[] models,
        CountDownLatch begin,
        AtomicInteger retries,
        long seed) {
      this.fixture = fixture;
      this.models = models;
      this.begin = begin;
      this.retries = retries;
      this.random = new Random(seed);
    }

    @Override
    public void run() {
      try {
        begin.await();
      } catch (InterruptedException e) {
        return;
      }
      long now = fixture.nowNanos;
      for (int i = 0; i < 30_000; i++) {
        now += TimeUnit.MILLISECONDS.toNanos(10);
        step(now);
      }
      while (!open.isEmpty()) {
        end(now);
      }
    }

    private void step(long now) {
      Cluster cluster = fixture.cluster; // whichever of the threads replaced it last
      List<LiveEndpoint> endpoints = cluster.endpoints();
      LiveEndpoint any = endpoints.get(random.nextInt(endpoints.size()));
      switch (random.nextInt(100)) {
        case 0 -> any.eject();
        case 1, 2 -> any.restore();
        case 3, 4 -> cluster.probed(any, random.nextBoolean() ? "no answer" : null, now);
        case 5 -> {
          synchronized (fixture) {
            fixture.reload(models[random.nextInt(models.length)]);
          }
        }
        default -> {
          if (random.nextBoolean()) {
            begin(cluster, any, now);
          } else if (!open.isEmpty()) {
            end(now);
          }
        }
      }
    }

    private void begin(Cluster cluster, LiveEndpoint tried, long now) {
      boolean retry = random.nextInt(3) == 0 && cluster.tryBeginRetry();
      LiveEndpoint picked =
          cluster.pick(random.nextInt(50), retry ? List.of(tried) : List.of(), now);
      if (picked != null) {
        open.add(new Open(cluster, picked, retry));
      } else if (retry) {
        cluster.endRetry();
      }
      retries.addAndGet(retry ? 1 : 0);
    }

    private void end(long now) {
      Open ended = open.remove(random.nextInt(open.size()));
      Outcome[] outcomes = Outcome.values();
      long retryAfter = random.nextBoolean() ? TimeUnit.SECONDS.toNanos(random.nextInt(5)) : 0;
      ended.cluster.ended(
          ended.endpoint, outcomes[random.nextInt(outcomes.length)], retryAfter, now);
      if (ended.retry) {
        ended.cluster.endRetry();
      }
    }
  }
}
