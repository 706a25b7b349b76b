package dev.sluice.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.sluice.access.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StreamSlotsTest {
  private static final int THREADS = 8;
  private static final int ROUNDS = 20_000;

  private final Plan free = new Plan("free", 2, Plan.UNBOUNDED, Set.of("small"), false);
  private final Plan pro = new Plan("pro", 5, 2, Set.of(), true);
  private final StreamSlots slots = new StreamSlots(List.of(free, pro));

  @Test
  void aPlanHandsOutItsSlotsAndThenRefuses() {
    SlotLease first = taken(slots.acquire(free, "a"));
    taken(slots.acquire(free, "b"));

    assertThat(slots.acquire(free, "c"))
        .isEqualTo(new StreamSlots.Outcome(null, StreamSlots.Refusal.PLAN));
    assertThat(slots.inUse("free")).isEqualTo(2);

    assertThat(first.release()).isTrue();
    taken(slots.acquire(free, "c"));
  }

  @Test
  void aKeyHandsOutItsShareAndOtherKeysKeepTheirs() {
    taken(slots.acquire(pro, "a"));
    taken(slots.acquire(pro, "a"));

    assertThat(slots.acquire(pro, "a"))
        .isEqualTo(new StreamSlots.Outcome(null, StreamSlots.Refusal.KEY));
    assertThat(slots.inUse("pro")).isEqualTo(2);
    taken(slots.acquire(pro, "b"));
  }

  @Test
  void aKeyThatThePlanRefusesHoldsNothing() {
    taken(slots.acquire(free, "a"));
    taken(slots.acquire(free, "a"));

    slots.acquire(free, "b");

    assertThat(slots.inUseByKey("b")).isZero();
  }

  @Test
  void plansDoNotTakeEachOthersSlots() {
    taken(slots.acquire(free, "a"));
    taken(slots.acquire(free, "a"));

    taken(slots.acquire(pro, "b"));

    assertThat(slots.inUse("free")).isEqualTo(2);
    assertThat(slots.inUse("pro")).isEqualTo(1);
    assertThat(slots.limit("free")).isEqualTo(2);
    assertThat(slots.limit("pro")).isEqualTo(5);
  }

  @Test
  void aSecondReleaseGivesNothingBack() {
    SlotLease lease = taken(slots.acquire(free, "a"));
    taken(slots.acquire(free, "a"));

    assertThat(lease.release()).isTrue();
    assertThat(lease.release()).isFalse();

    assertThat(slots.inUse("free")).isEqualTo(1);
    assertThat(slots.inUseByKey("a")).isEqualTo(1);
  }

  @Test
  void aPlanThatWasNotGivenHasNoSlots() {
    Plan other = new Plan("other", 1, 1, Set.of(), true);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> slots.acquire(other, "a"))
        .withMessageContaining("plan: other (expected: one of");
    assertThat(slots.inUseByKey("a")).isZero();
  }

  @Test
  void manyThreadsNeverHoldMoreThanTheLimitsAndGiveAllBack() throws Exception {
    AtomicInteger holding = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger mostOfKey = new AtomicInteger();
    List<AtomicInteger> ofKey = List.of(new AtomicInteger(), new AtomicInteger());
    AtomicInteger served = new AtomicInteger();

    onAllThreads(
        thread -> {
          int key = thread % 2;
          for (int round = 0; round < ROUNDS; round++) {
            SlotLease lease = slots.acquire(pro, "key" + key).lease();
            if (lease != null) {
              most.accumulateAndGet(holding.incrementAndGet(), Math::max);
              mostOfKey.accumulateAndGet(ofKey.get(key).incrementAndGet(), Math::max);
              served.incrementAndGet();
              ofKey.get(key).decrementAndGet();
              holding.decrementAndGet();
              lease.release();
            }
          }
        });

    assertThat(most.get()).isBetween(1, 4); // two keys of two: below the plan's five
    assertThat(mostOfKey.get()).isBetween(1, 2);
    assertThat(served.get()).isPositive();
    assertThat(slots.inUse("pro")).isZero();
    assertThat(slots.inUseByKey("key0") + slots.inUseByKey("key1")).isZero();
  }

  @Test
  void manyThreadsThatOnlyTakeGetExactlyTheLimit() throws Exception {
    Plan plan = new Plan("exact", 1000, Plan.UNBOUNDED, Set.of(), true);
    StreamSlots exact = new StreamSlots(List.of(plan));
    AtomicInteger taken = new AtomicInteger();

    onAllThreads(
        thread -> {
          for (int round = 0; round < 1000; round++) {
            if (exact.acquire(plan, "key" + thread).lease() != null) {
              taken.incrementAndGet();
            }
          }
        });

    assertThat(taken.get()).isEqualTo(1000);
    assertThat(exact.inUse("exact")).isEqualTo(1000);
  }

  @Test
  void manyThreadsThatReleaseTheSameLeasesGiveEachBackOnce() throws Exception {
    Plan plan = new Plan("same", ROUNDS, Plan.UNBOUNDED, Set.of(), true);
    StreamSlots same = new StreamSlots(List.of(plan));
    List<SlotLease> leases = new ArrayList<>();
    for (int i = 0; i < ROUNDS; i++) {
      leases.add(taken(same.acquire(plan, "a")));
    }
    AtomicInteger released = new AtomicInteger();

    onAllThreads(
        thread -> {
          for (SlotLease lease : leases) {
            if (lease.release()) {
              released.incrementAndGet();
            }
          }
        });

    assertThat(released.get()).isEqualTo(ROUNDS);
    assertThat(same.inUse("same")).isZero();
    assertThat(same.inUseByKey("a")).isZero();
  }

  private interface Work {
    void run(int thread);
  }

  private static void onAllThreads(Work work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      CyclicBarrier start = new CyclicBarrier(THREADS);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        tasks.add(
            () -> {
              start.await();
              work.run(thread);
              return null;
            });
      }
      for (Future<Void> done : threads.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static SlotLease taken(StreamSlots.Outcome outcome) {
    assertThat(outcome.refusal()).isNull();
    return Objects.requireNonNull(outcome.lease());
  }
}
