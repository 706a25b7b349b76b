package dev.sluice.slots;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.sluice.access.Plan;
import java.util.Objects;
import java.util.Set;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** What two threads may see of slots, for jcstress. 1 stands for "got it", 0 for "did not". */
final class SlotsStress {
  private static final Plan ONE = new Plan("one", 1, Plan.UNBOUNDED, Set.of(), true);
  private static final Plan TWO = new Plan("two", 2, 1, Set.of(), true);

  /** Plan {@code two} after its limit has shrunk. */
  private static final Plan TWO_NOW_ONE = new Plan("two", 1, 1, Set.of(), true);

  private SlotsStress() {}

  private static int got(StreamSlots.Outcome outcome) {
    return outcome.lease() == null ? 0 : 1;
  }

  private static int gave(SlotLease lease) {
    return lease.release() ? 1 : 0;
  }

  private static SlotLease lease(StreamSlots slots, Plan plan, String key) {
    return Objects.requireNonNull(slots.acquire(plan, key).lease());
  }

  /** Two callers, one slot. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the first caller has it")
  @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "the second caller has it")
  @Outcome(expect = FORBIDDEN, desc = "both, none, or miscounted")
  @State
  public static class TwoAcquireTheLastSlotOfAPlan {
    private final StreamSlots slots = new StreamSlots();

    @Actor
    public void first(III_Result r) {
      r.r1 = got(slots.acquire(ONE, "a"));
    }

    @Actor
    public void second(III_Result r) {
      r.r2 = got(slots.acquire(ONE, "b"));
    }

    @Arbiter
    public void count(III_Result r) {
      r.r3 = slots.inUse("one");
    }
  }

  /** Two callers with one key that may run one stream. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the first caller has it")
  @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "the second caller has it")
  @Outcome(expect = FORBIDDEN, desc = "both, none, or miscounted")
  @State
  public static class TwoAcquireTheLastSlotOfAKey {
    private final StreamSlots slots = new StreamSlots();

    @Actor
    public void first(III_Result r) {
      r.r1 = got(slots.acquire(TWO, "a"));
    }

    @Actor
    public void second(III_Result r) {
      r.r2 = got(slots.acquire(TWO, "a"));
    }

    @Arbiter
    public void count(III_Result r) {
      r.r3 = slots.inUse("two") == slots.inUseByKey("a") ? slots.inUse("two") : -1;
    }
  }

  /** One caller gives the only slot back while another asks for it. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "given back before it was asked for")
  @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "asked for too early")
  @Outcome(expect = FORBIDDEN, desc = "lost or doubled")
  @State
  public static class ReleaseMeetsAcquire {
    private final StreamSlots slots = new StreamSlots();
    private final SlotLease held = lease(slots, ONE, "a");

    @Actor
    public void release(III_Result r) {
      r.r1 = gave(held);
    }

    @Actor
    public void acquire(III_Result r) {
      r.r2 = got(slots.acquire(ONE, "b"));
    }

    @Arbiter
    public void count(III_Result r) {
      int byKeys = slots.inUseByKey("a") + slots.inUseByKey("b");
      r.r3 = slots.inUse("one") == byKeys ? byKeys : -1;
    }
  }

  /** One lease is given back by two threads: the client is gone as the answer ends. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the first call gave it back")
  @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "the second call gave it back")
  @Outcome(expect = FORBIDDEN, desc = "twice, never, or another's slot")
  @State
  public static class TwoReleaseOneLease {
    private final StreamSlots slots = new StreamSlots();
    private final SlotLease held = lease(slots, TWO, "a");
    private final SlotLease other = lease(slots, TWO, "b");

    @Actor
    public void first(III_Result r) {
      r.r1 = gave(held);
    }

    @Actor
    public void second(III_Result r) {
      r.r2 = gave(held);
    }

    @Arbiter
    public void count(III_Result r) {
      r.r3 = slots.inUse("two") + slots.inUseByKey("a");
      if (!other.release() || slots.inUse("two") != 0) {
        r.r3 = -1;
      }
    }
  }

  /** Both have a slot, and both give it back: nothing is lost in the counts. */
  @JCStressTest
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "both may come again")
  @Outcome(expect = FORBIDDEN, desc = "a slot leaked")
  @State
  public static class TwoReleaseTheirOwn {
    private final StreamSlots slots = new StreamSlots();
    private final SlotLease a = lease(slots, TWO, "a");
    private final SlotLease b = lease(slots, TWO, "b");

    @Actor
    public void first() {
      a.release();
    }

    @Actor
    public void second() {
      b.release();
    }

    @Arbiter
    public void count(I_Result r) {
      r.r1 = got(slots.acquire(TWO, "a")) + got(slots.acquire(TWO, "b"));
    }
  }

  /** A refusal by the plan takes nothing of the key, whatever it meets. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "nothing is left of the refused")
  @Outcome(expect = FORBIDDEN, desc = "the refused left a trace, or took a slot")
  @State
  public static class TwoAreRefusedByAFullPlan {
    private final StreamSlots slots = new StreamSlots();
    private final SlotLease held = lease(slots, ONE, "other");

    @Actor
    public void first() {
      slots.acquire(ONE, "a");
    }

    @Actor
    public void second() {
      slots.acquire(ONE, "a");
    }

    @Arbiter
    public void count(II_Result r) {
      r.r1 = slots.inUseByKey("a");
      r.r2 = held.release() && slots.inUse("one") == 0 ? 1 : 0;
    }
  }

  /** Two callers ask for the first slot, one of whom knows of the smaller limit already. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the old limit's caller came first")
  @Outcome(id = "1, 1, 2", expect = ACCEPTABLE, desc = "the new limit's caller came first")
  @Outcome(expect = FORBIDDEN, desc = "past a limit, refused below it, or miscounted")
  @State
  public static class AShrunkLimitMeetsTheOldOne {
    private final StreamSlots slots = new StreamSlots();

    @Actor
    public void old(III_Result r) {
      r.r1 = got(slots.acquire(TWO, "a"));
    }

    @Actor
    public void shrunk(III_Result r) {
      r.r2 = got(slots.acquire(TWO_NOW_ONE, "b"));
    }

    @Arbiter
    public void count(III_Result r) {
      r.r3 = slots.inUse("two");
    }
  }

  /** Two streams more than the limit end while a caller asks: both must have, first. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "asked for too early")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "asked for when both had ended")
  @Outcome(expect = FORBIDDEN, desc = "a slot past the limit, or miscounted")
  @State
  public static class TwoEndPastAShrunkLimit {
    private final StreamSlots slots = new StreamSlots();
    private final SlotLease a = lease(slots, TWO, "a");
    private final SlotLease b = lease(slots, TWO, "b");

    @Actor
    public void release() {
      a.release();
      b.release();
    }

    @Actor
    public void acquire(II_Result r) {
      r.r1 = got(slots.acquire(TWO_NOW_ONE, "c"));
    }

    @Arbiter
    public void count(II_Result r) {
      r.r2 = slots.inUse("two");
    }
  }
}
