package dev.sluice.timer;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The deadlines of one event loop. Event loop only, except where said otherwise. */
public final class LoopTimer {
  /*
   * A deadline is moved with every read of a stream and hardly ever expires. A timer queue pays for
   * each move; a list that is walked four times a second pays for each open exchange instead: some
   * nanoseconds each. The price is accuracy: a deadline expires up to one tick late, never early.
   */

  private static final Logger logger = LoggerFactory.getLogger(LoopTimer.class);

  /** How often deadlines are looked at. */
  public static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final EventExecutor loop;
  private final LongSupplier nanoTime;
  private @Nullable Deadline first;
  private @Nullable Deadline cursor;
  private long nowNanos;
  private volatile @Nullable Future<?> ticking;

  /**
   * A timer that ticks on this loop once started.
   *
   * @param nanoTime the clock, as {@link System#nanoTime()}
   */
  public LoopTimer(EventExecutor loop, LongSupplier nanoTime) {
    this.loop = loop;
    this.nanoTime = nanoTime;
    this.nowNanos = nanoTime.getAsLong();
  }

  /** Starts ticking. Any thread, once. */
  public void start() {
    ticking = loop.scheduleAtFixedRate(this::tick, TICK_NANOS, TICK_NANOS, TimeUnit.NANOSECONDS);
  }

  /** Stops ticking: no deadline expires any more. Any thread, after {@link #start()}. */
  public void stop() {
    Future<?> task = ticking;
    if (task != null) {
      task.cancel(false);
    }
  }

  /** The clock now. */
  public long readClock() {
    return nanoTime.getAsLong();
  }

  /** The clock at the last tick. */
  public long nowNanos() {
    return nowNanos;
  }

  /** Reads the clock and expires what is due. Called by the loop; tests call it themselves. */
  public void tick() {
    nowNanos = nanoTime.getAsLong();
    Deadline deadline = first;
    while (deadline != null) {
      cursor = deadline.next; // moves on by itself when remove() takes the one it stands on
      if (deadline.isDue(nowNanos)) {
        remove(deadline);
        expire(deadline);
      }
      deadline = cursor;
    }
  }

  /** A fault in one must not be the end of all: a task that throws is not run again. */
  private static void expire(Deadline deadline) {
    try {
      deadline.expired();
    } catch (RuntimeException | Error e) {
      logger.error("fault of Sluice in a deadline that expired", e);
    }
  }

  void add(Deadline deadline) {
    assert loop.inEventLoop();
    deadline.armed = true;
    deadline.next = first;
    if (first != null) {
      first.previous = deadline;
    }
    first = deadline;
  }

  void remove(Deadline deadline) {
    assert loop.inEventLoop();
    if (cursor == deadline) {
      cursor = deadline.next;
    }
    if (deadline.previous == null) {
      first = deadline.next;
    } else {
      deadline.previous.next = deadline.next;
    }
    if (deadline.next != null) {
      deadline.next.previous = deadline.previous;
    }
    deadline.next = null;
    deadline.previous = null;
    deadline.armed = false;
  }
}
