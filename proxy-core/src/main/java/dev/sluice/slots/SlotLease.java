package dev.sluice.slots;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The right to run one stream. Given back exactly once, however often and from whichever threads
 * {@link #release()} is called.
 */
public final class SlotLease {
  private static final VarHandle RELEASED;

  static {
    try {
      RELEASED = MethodHandles.lookup().findVarHandle(SlotLease.class, "released", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final StreamSlots slots;
  private final PlanSlots plan;
  private final String key;

  @SuppressWarnings("unused") // through RELEASED
  private volatile boolean released;

  SlotLease(StreamSlots slots, PlanSlots plan, String key) {
    this.slots = slots;
    this.plan = plan;
    this.key = key;
  }

  /** Gives the slot back. True for the one call that did, false for every later one. */
  public boolean release() {
    if (!RELEASED.compareAndSet(this, false, true)) {
      return false;
    }
    slots.release(plan, key);
    return true;
  }
}
