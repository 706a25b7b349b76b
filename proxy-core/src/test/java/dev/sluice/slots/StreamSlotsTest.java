package dev.sluice.slots;

import static org.assertj.core.api.Assertions.assertThat;

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

  private final Plan free = plan("free", 2, Plan.UNBOUNDED);
  private final Plan pro = plan("pro", 5, 2);
  private long nanos;
  private double random;
  private final StreamSlots slots = new StreamSlots(() -> nanos, () -> random);

  @Test
  void aPlanHandsOutItsSlotsAndThenRefuses() {
    SlotLease first = taken(slots.acquire(free, "a"));
    taken(slots.acquire(free, "b"));

    assertThat(busy(slots.acquire(free, "c"))).isEqualTo(StreamSlots.Busy.PLAN);
    assertThat(slots.inUse("free")).isEqualTo(2);

    assertThat(first.release()).isTrue();
    taken(slots.acquire(free, "c"));
  }

  @Test
  void aKeyHandsOutItsShareAndOtherKeysKeepTheirs() {
    taken(slots.acquire(pro, "a"));
    taken(slots.acquire(pro, "a"));

    assertThat(busy(slots.acquire(pro, "a"))).isEqualTo(StreamSlots.Busy.KEY);
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
  void aPlanThatNobodyAskedForYetHasNoneInUse() {
    assertThat(slots.inUse("other")).isZero();

    taken(slots.acquire(plan("other", 1, 1), "a"));

    assertThat(slots.inUse("other")).isEqualTo(1);
  }

  @Test
  void aLimitThatGrowsAdmitsMoreAtOnce() {
    taken(slots.acquire(free, "a"));
    taken(slots.acquire(free, "a"));
    assertThat(busy(slots.acquire(free, "a"))).isEqualTo(StreamSlots.Busy.PLAN);

    taken(slots.acquire(plan("free", 3, Plan.UNBOUNDED), "a"));

    assertThat(slots.inUse("free")).isEqualTo(3);
  }

  @Test
  void aLimitThatShrinksBelowWhatIsInUseAdmitsNobodyUntilEnoughHaveEnded() {
    Plan shrunk = plan("pro", 2, 2);
    List<SlotLease> running = new ArrayList<>();
    for (String key : List.of("a", "a", "b", "b")) {
      running.add(taken(slots.acquire(pro, key)));
    }

    for (int inUse = 4; inUse >= 2; inUse--) {
      assertThat(slots.inUse("pro")).isEqualTo(inUse);
      StreamSlots.Outcome outcome = slots.acquire(shrunk, "c");
      assertThat(busy(outcome)).isEqualTo(StreamSlots.Busy.PLAN);
      assertThat(outcome.left()).isEqualTo(new SlotsLeft(2, 0));
      assertThat(running.remove(0).release()).isTrue();
    }
    assertThat(taken(slots.acquire(shrunk, "c")).release()).isTrue();
    assertThat(running.remove(0).release()).isTrue();
    assertThat(slots.inUse("pro")).isZero();
  }

  @Test
  void aKeysBoundThatShrinksAdmitsNoneOfItsStreamsUntilEnoughHaveEnded() {
    Plan shrunk = plan("pro", 5, 1);
    SlotLease first = taken(slots.acquire(pro, "a"));
    SlotLease second = taken(slots.acquire(pro, "a"));

    assertThat(busy(slots.acquire(shrunk, "a"))).isEqualTo(StreamSlots.Busy.KEY);
    first.release();
    assertThat(busy(slots.acquire(shrunk, "a"))).isEqualTo(StreamSlots.Busy.KEY);
    taken(slots.acquire(shrunk, "b"));
    second.release();

    taken(slots.acquire(shrunk, "a"));
    assertThat(slots.inUseByKey("a")).isEqualTo(1);
  }

  @Test
  void whatIsLeftIsThePlansWhereItBoundsNoKey() {
    assertThat(slots.acquire(free, "a").left()).isEqualTo(new SlotsLeft(2, 1));
    assertThat(slots.acquire(free, "b").left()).isEqualTo(new SlotsLeft(2, 0));
    assertThat(slots.acquire(free, "c").left()).isEqualTo(new SlotsLeft(2, 0));
  }

  @Test
  void whatIsLeftIsTheKeysWhereThatIsLess() {
    assertThat(slots.acquire(pro, "a").left()).isEqualTo(new SlotsLeft(2, 1));
    assertThat(slots.acquire(pro, "a").left()).isEqualTo(new SlotsLeft(2, 0));
    assertThat(slots.acquire(pro, "a").left()).isEqualTo(new SlotsLeft(2, 0));
    assertThat(slots.acquire(pro, "b").left()).isEqualTo(new SlotsLeft(2, 1));
    // One is left of the plan, and one of the key.
    assertThat(slots.acquire(pro, "c").left()).isEqualTo(new SlotsLeft(5, 1));
    assertThat(slots.acquire(pro, "d").left()).isEqualTo(new SlotsLeft(5, 0));
  }

  @Test
  void aRefusedCallerIsToldHowOftenThePlansSlotsComeFree() {
    everyTenSecondsOneEnds("free", 4);

    assertThat(retryAfterSeconds(slots.acquire(plan("free", 4, 4), "z"))).isEqualTo(10);
    random = 0.999_999;
    assertThat(retryAfterSeconds(slots.acquire(plan("free", 4, 4), "z"))).isEqualTo(15);
  }

  @Test
  void aRefusedCallerWaitsForAllThatMustEndBeforeAShrunkLimitLetsItIn() {
    everyTenSecondsOneEnds("free", 4);

    assertThat(retryAfterSeconds(slots.acquire(plan("free", 2, 4), "z"))).isEqualTo(30);
  }

  @Test
  void aCallerWhoseKeyIsBusyWaitsForOneOfItsOwnStreams() {
    everyTenSecondsOneEnds("free", 4);

    // One in four of the plan's streams is this key's.
    assertThat(retryAfterSeconds(slots.acquire(plan("free", 9, 1), "0"))).isEqualTo(40);
    taken(slots.acquire(plan("free", 9, 2), "0"));
    assertThat(retryAfterSeconds(slots.acquire(plan("free", 9, 2), "0"))).isEqualTo(25);
  }

  @Test
  void aCallerWhoseKeyIsBusyOnAPlanThatItHasLeftIsToldTheLeast() {
    taken(slots.acquire(pro, "a"));
    taken(slots.acquire(pro, "a"));

    assertThat(retryAfterSeconds(slots.acquire(plan("new", 5, 1), "a"))).isEqualTo(1);
  }

  @Test
  void aTimeWithoutAnyStreamIsNoTimeWithoutARelease() {
    taken(slots.acquire(free, "a")).release();
    nanos += TimeUnit.HOURS.toNanos(8);
    taken(slots.acquire(free, "a"));
    taken(slots.acquire(free, "a"));

    assertThat(retryAfterSeconds(slots.acquire(free, "a"))).isEqualTo(1);
  }

  /** Fills the plan, each slot with another key's stream, after a long time of one each 10 s. */
  private void everyTenSecondsOneEnds(String plan, int streams) {
    Plan filled = plan(plan, streams, streams);
    List<SlotLease> running = new ArrayList<>();
    for (int i = 0; i < 40 * streams; i++) {
      if (running.size() == streams) {
        nanos += TimeUnit.SECONDS.toNanos(10);
        running.remove(0).release();
      }
      running.add(taken(slots.acquire(filled, Integer.toString(i % streams))));
    }
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
    Plan plan = plan("exact", 1000, Plan.UNBOUNDED);
    StreamSlots exact = new StreamSlots();
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
  void manyThreadsNeverGetASlotPastALimitThatShrinksUnderThem() throws Exception {
    StreamSlots shared = new StreamSlots();
    AtomicInteger pastTheLimit = new AtomicInteger();
    AtomicInteger served = new AtomicInteger();

    for (int limit = 6; limit >= 2; limit--) {
      Plan before = plan("shrinking", limit, Plan.UNBOUNDED);
      Plan after = plan("shrinking", limit - 1, Plan.UNBOUNDED);
      List<SlotLease> running = new ArrayList<>();
      for (int i = 0; i < limit; i++) {
        running.add(taken(shared.acquire(before, "key")));
      }
      // Counts no more than are in use: up after a slot was taken, down before it is given back.
      AtomicInteger holding = new AtomicInteger(limit);

      onAllThreads(
          thread -> {
            for (int round = 0; round < ROUNDS / 10; round++) {
              if (round == 100 && thread < running.size()) {
                holding.decrementAndGet();
                running.get(thread).release();
              }
              SlotLease lease = shared.acquire(after, "key" + thread).lease();
              if (lease != null) {
                if (holding.incrementAndGet() > after.streams()) {
                  pastTheLimit.incrementAndGet();
                }
                served.incrementAndGet();
                holding.decrementAndGet();
                lease.release();
              }
            }
          });

      assertThat(pastTheLimit.get()).isZero();
      assertThat(shared.inUse("shrinking")).isZero();
    }
    assertThat(served.get()).isPositive();
  }

  @Test
  void manyThreadsThatReleaseTheSameLeasesGiveEachBackOnce() throws Exception {
    Plan plan = plan("same", ROUNDS, Plan.UNBOUNDED);
    StreamSlots same = new StreamSlots();
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

  private static Plan plan(String name, int streams, int streamsPerKey) {
    return new Plan(name, streams, streamsPerKey, Set.of(), true);
  }

  private static StreamSlots.Busy busy(StreamSlots.Outcome outcome) {
    assertThat(outcome.lease()).isNull();
    return Objects.requireNonNull(outcome.refusal()).busy();
  }

  private static int retryAfterSeconds(StreamSlots.Outcome outcome) {
    return Objects.requireNonNull(outcome.refusal()).retryAfterSeconds();
  }

  private static SlotLease taken(StreamSlots.Outcome outcome) {
    assertThat(outcome.refusal()).isNull();
    return Objects.requireNonNull(outcome.lease());
  }
}
