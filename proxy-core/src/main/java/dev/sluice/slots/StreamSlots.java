package dev.sluice.slots;

import dev.sluice.access.Plan;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The stream slots of all plans, and of each key with a running stream. Safe for all threads. */
public final class StreamSlots {
  /*
   * The plan's counter is exact by compare-and-set. The key's counter lives in a map only while the
   * key has a running stream, so that a million keys that ever called cost nothing; the map's
   * per-entry atomicity makes "count up to a bound" and "remove at zero" exact.
   *
   * The key's slot is taken first: a key that is at its own bound then never takes, even for an
   * instant, a slot that another key of the plan could have had.
   */
  private final Map<String, SlotCounter> plans;
  private final ConcurrentHashMap<String, Integer> keys = new ConcurrentHashMap<>();

  /** Slots for these plans; plans of any other name have none. */
  public StreamSlots(Collection<Plan> plans) {
    Map<String, SlotCounter> counters = new LinkedHashMap<>();
    for (Plan plan : plans) {
      counters.put(plan.name(), new SlotCounter(plan.streams()));
    }
    this.plans = Map.copyOf(counters);
  }

  /** What an attempt to take a slot came to. Exactly one of the two is not null. */
  public record Outcome(@Nullable SlotLease lease, @Nullable Refusal refusal) {}

  /** Whose slots are all in use. */
  public enum Refusal {
    PLAN,
    KEY
  }

  private static final Outcome PLAN_BUSY = new Outcome(null, Refusal.PLAN);
  private static final Outcome KEY_BUSY = new Outcome(null, Refusal.KEY);

  /**
   * Takes one slot of the plan and of the key.
   *
   * @param plan one of the plans given to the constructor
   * @param key the key's name
   */
  public Outcome acquire(Plan plan, String key) {
    SlotCounter counter = counter(plan.name());
    if (!acquireKey(key, plan.streamsPerKey())) {
      return KEY_BUSY;
    }
    if (!counter.tryAcquire()) {
      releaseKey(key);
      return PLAN_BUSY;
    }
    return new Outcome(new SlotLease(this, counter, key), null);
  }

  /** How many streams of the plan run now. */
  public int inUse(String plan) {
    return counter(plan).inUse();
  }

  /** How many streams of the plan may run at once. */
  public int limit(String plan) {
    return counter(plan).limit();
  }

  /** How many streams of all plans run now. */
  public int inUse() {
    return plans.values().stream().mapToInt(SlotCounter::inUse).sum();
  }

  /** How many streams of the key run now. */
  public int inUseByKey(String key) {
    return keys.getOrDefault(key, 0);
  }

  private SlotCounter counter(String plan) {
    SlotCounter counter = plans.get(plan);
    if (counter == null) {
      throw new IllegalArgumentException(
          "plan: " + plan + " (expected: one of " + plans.keySet() + ")");
    }
    return counter;
  }

  private boolean acquireKey(String key, int bound) {
    boolean[] acquired = new boolean[1];
    keys.compute(
        key,
        (name, inUse) -> {
          int current = inUse == null ? 0 : inUse;
          acquired[0] = current < bound;
          return acquired[0] ? Integer.valueOf(current + 1) : inUse;
        });
    return acquired[0];
  }

  void releaseKey(String key) {
    keys.computeIfPresent(key, (name, inUse) -> inUse == 1 ? null : inUse - 1);
  }
}
