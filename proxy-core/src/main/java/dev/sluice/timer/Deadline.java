package dev.sluice.timer;

import org.jspecify.annotations.Nullable;

/**
 * One thing that must happen in time on one event loop. Armed and disarmed at will; {@link
 * #expired()} is called once for each time it was armed and not disarmed before. Event loop only.
 */
public abstract class Deadline {
  private final LoopTimer timer;
  private long atNanos;

  // The timer's list of armed deadlines: linked in place, so that arming allocates nothing.
  @Nullable Deadline next;
  @Nullable Deadline previous;
  boolean armed;

  /** A deadline on this timer's event loop, not armed. */
  protected Deadline(LoopTimer timer) {
    this.timer = timer;
  }

  /** Arms it, or moves it: it expires this many nanoseconds from now, or up to one tick later. */
  public final void arm(long delayNanos) {
    atNanos = timer.readClock() + delayNanos;
    if (!armed) {
      timer.add(this);
    }
  }

  /** Disarms it; without effect where it is not armed. */
  public final void disarm() {
    if (armed) {
      timer.remove(this);
    }
  }

  final boolean isDue(long nowNanos) {
    return nowNanos - atNanos >= 0;
  }

  /** Called on the event loop, at most one tick late; the deadline is disarmed already. */
  protected abstract void expired();
}
