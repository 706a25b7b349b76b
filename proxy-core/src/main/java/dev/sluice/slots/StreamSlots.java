package dev.sluice.slots;

import dev.sluice.access.Plan;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The stream slots of all plans, and of each key with a running stream. The limits are those of the
 * plan that a caller brings along, so they may change at any time; running streams go on. Safe for
 * all threads.
 */
public final class StreamSlots {
  /*
   * The plan's counter is exact by compare-and-set. It is made when the plan's first stream asks
   * and stays for as long as the process does, also when the plan is configured no longer: two
   * counters of one name would each admit up to the limit.
   *
   * The key's count lives in a map only while the key has a running stream, so that a million keys
   * that ever called cost nothing; the map's per-entry atomicity makes "count up to a bound" and
   * "remove at zero" exact.
   *
   * The key's slot is taken first: a key that is at its own bound then never takes, even for an
   * instant, a slot that another key of the plan could have had.
   */
  private final ConcurrentHashMap<String, PlanSlots> plans = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Integer> keys = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;
  private final DoubleSupplier random;

  /** Slots of which none is in use, by the system's clock. */
  public StreamSlots() {
    this(System::nanoTime, () -> ThreadLocalRandom.current().nextDouble());
  }

  /**
   * Slots of which none is in use.
   *
   * @param nanoTime a monotonic clock, in nanoseconds, that all threads share
   * @param random spreads the waits of refused callers: numbers from 0, inclusive, to 1, exclusive
   */
  public StreamSlots(LongSupplier nanoTime, DoubleSupplier random) {
    this.nanoTime = nanoTime;
    this.random = random;
  }

  /**
   * What an attempt to take a slot came to.
   *
   * @param lease the slot; null where it was refused
   * @param refusal why there is none; null where there is one
   * @param left what that left
   */
  public record Outcome(@Nullable SlotLease lease, @Nullable Refusal refusal, SlotsLeft left) {}

  /**
   * Why there was no slot.
   *
   * @param busy whose slots are all in use
   * @param retryAfterSeconds when the caller should ask again, 1 to 60; jittered, so that those who
   *     were refused together do not come back together
   */
  public record Refusal(Busy busy, int retryAfterSeconds) {}

  /** Whose slots are all in use. */
  public enum Busy {
    PLAN,
    KEY
  }

  /**
   * Takes one slot of the plan and of the key.
   *
   * @param plan brings the limits along
   * @param key the key's name
   */
  public Outcome acquire(Plan plan, String key) {
    PlanSlots ofPlan = ofPlan(plan.name());
    int byKey = acquireKey(key, plan.streamsPerKey());
    if (byKey < 0) {
      return refusedByKey(plan, ofPlan, -byKey);
    }
    if (ofPlan.counter.inUse() == 0) {
      ofPlan.rate.begin(nanoTime.getAsLong());
    }
    int byPlan = ofPlan.counter.tryAcquire(plan.streams());
    if (byPlan < 0) {
      releaseKey(key);
      return refusedByPlan(plan, ofPlan, -byPlan);
    }
    return new Outcome(new SlotLease(this, ofPlan, key), null, left(plan, byPlan, byKey));
  }

  private static SlotsLeft left(Plan plan, int byPlan, int byKey) {
    int leftOfPlan = plan.streams() - byPlan;
    int leftOfKey = plan.streamsPerKey() - byKey;
    return leftOfKey < leftOfPlan
        ? new SlotsLeft(plan.streamsPerKey(), leftOfKey)
        : new SlotsLeft(plan.streams(), leftOfPlan);
  }

  /** Where the limit has shrunk below what is in use, more than one must come free. */
  private Outcome refusedByPlan(Plan plan, PlanSlots ofPlan, int inUse) {
    return refused(Busy.PLAN, plan.streams(), ofPlan, inUse - plan.streams() + 1);
  }

  /** Of the plan's slots that come free, the key's are as many as its share of those in use. */
  private Outcome refusedByKey(Plan plan, PlanSlots ofPlan, int inUse) {
    double releasesOfKey = inUse - plan.streamsPerKey() + 1;
    double releasesForOneOfKey = Math.max(1, (double) ofPlan.counter.inUse() / inUse);
    return refused(Busy.KEY, plan.streamsPerKey(), ofPlan, releasesOfKey * releasesForOneOfKey);
  }

  private Outcome refused(Busy busy, int limit, PlanSlots ofPlan, double releases) {
    int seconds = ofPlan.rate.secondsUntil(releases, nanoTime.getAsLong(), random.getAsDouble());
    return new Outcome(null, new Refusal(busy, seconds), new SlotsLeft(limit, 0));
  }

  /** How many streams of the plan run now. */
  public int inUse(String plan) {
    PlanSlots ofPlan = plans.get(plan);
    return ofPlan == null ? 0 : ofPlan.counter.inUse();
  }

  /** How many streams of all plans run now. */
  public int inUse() {
    return plans.values().stream().mapToInt(ofPlan -> ofPlan.counter.inUse()).sum();
  }

  /** How many streams of the key run now. */
  public int inUseByKey(String key) {
    return keys.getOrDefault(key, 0);
  }

  private PlanSlots ofPlan(String plan) {
    PlanSlots found = plans.get(plan);
    return found == null
        ? plans.computeIfAbsent(plan, name -> new PlanSlots(nanoTime.getAsLong()))
        : found;
  }

  /** Counts as {@link BoundedCounter#tryAcquire} does. */
  private int acquireKey(String key, int bound) {
    int[] counted = new int[1];
    keys.compute(
        key,
        (name, inUse) -> {
          int current = inUse == null ? 0 : inUse;
          if (current >= bound) {
            counted[0] = -current;
            return inUse;
          }
          counted[0] = current + 1;
          return current + 1;
        });
    return counted[0];
  }

  void release(PlanSlots plan, String key) {
    // Before the slot is free: who takes it then may be the plan's first, and begin a new gap.
    plan.rate.released(nanoTime.getAsLong());
    plan.counter.release();
    releaseKey(key);
  }

  private void releaseKey(String key) {
    keys.computeIfPresent(key, (name, inUse) -> inUse == 1 ? null : inUse - 1);
  }
}
