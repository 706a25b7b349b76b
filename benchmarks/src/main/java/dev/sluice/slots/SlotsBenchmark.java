package dev.sluice.slots;

import dev.sluice.access.Plan;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** A slot taken and given back. */
@State(Scope.Benchmark)
public class SlotsBenchmark {
  private static final Plan PLAN = new Plan("pro", 1_000, Plan.UNBOUNDED, Set.of(), true);
  private static final Plan FULL = new Plan("full", 1, Plan.UNBOUNDED, Set.of(), true);

  private final StreamSlots slots = new StreamSlots();
  private final AtomicInteger callers = new AtomicInteger();
  private final StreamSlots.Outcome last = slots.acquire(FULL, "key");

  /** A loop with callers of its own. */
  @State(Scope.Thread)
  public static class Caller {
    private String key;

    @Setup
    public void name(SlotsBenchmark slots) {
      key = "key-" + slots.callers.incrementAndGet();
    }
  }

  @Benchmark
  public boolean alone(Caller caller) {
    return takeAndRelease(caller.key);
  }

  /** Two loops with the callers of one plan, each with a key of its own. */
  @Benchmark
  @Threads(2)
  public boolean onePlan(Caller caller) {
    return takeAndRelease(caller.key);
  }

  /** Two loops with callers that have one key. */
  @Benchmark
  @Threads(2)
  public boolean oneKey() {
    return takeAndRelease("key");
  }

  /** All slots of the plan are taken. */
  @Benchmark
  public StreamSlots.Outcome refused(Caller caller) {
    StreamSlots.Outcome outcome = slots.acquire(FULL, caller.key);
    if (outcome.lease() != null || last.lease() == null) {
      throw new IllegalStateException("slot: taken (expected: refused)");
    }
    return outcome;
  }

  private boolean takeAndRelease(String key) {
    return Objects.requireNonNull(slots.acquire(PLAN, key).lease()).release();
  }
}
