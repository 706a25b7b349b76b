package dev.sluice.pipeline;

import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way out, in two steps. A drain refuses new requests and lets running exchanges go on to a
 * deadline; what is left then is told so and ended. Closing drains too, and completes when nothing
 * is left or the deadline has come. Safe for all threads.
 */
final class Drain {
  private static final Logger logger = LoggerFactory.getLogger(Drain.class);

  /*
   * The deadline of a drain may be moved, later too; that of closing may not, as whoever sent
   * SIGTERM will not wait any longer. The earlier of the two counts. What they lead to happens on one
   * loop, so that it happens once.
   */
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** How long callers have to take their last bytes before their connections are closed. */
  private static final long LAST_WORDS_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final EdgeState state;
  private final EventLoop loop;
  private final Runnable endExchanges;
  private final CompletableFuture<Integer> done = new CompletableFuture<>();
  private volatile long deadlineNanos;
  private volatile long closingDeadlineNanos;
  private volatile boolean closing;

  // Touched by the loop alone.
  private @Nullable Future<?> next;
  private boolean over;
  private long overNanos;
  private int brokenOff;

  /**
   * None yet.
   *
   * @param loop where deadlines are looked at
   * @param endExchanges tells every running exchange, on its own loop, that its time is over
   */
  Drain(EdgeState state, EventLoop loop, Runnable endExchanges) {
    this.state = state;
    this.loop = loop;
    this.endExchanges = endExchanges;
  }

  /** Begins, or moves the deadline. */
  void begin(long graceNanos) {
    deadlineNanos = System.nanoTime() + graceNanos;
    state.drain();
    loop.execute(this::look);
  }

  /**
   * Begins where it has not, and has what is left end within this time, or by the deadline of the
   * drain under way where that is earlier.
   *
   * @return completes on the loop, with the number of exchanges that had to be ended
   */
  CompletableFuture<Integer> close(long graceNanos) {
    closingDeadlineNanos = System.nanoTime() + graceNanos;
    if (!state.isDraining()) {
      deadlineNanos = closingDeadlineNanos;
    }
    closing = true;
    state.drain();
    loop.execute(this::look);
    return done;
  }

  /** How long running exchanges may go on; 0 where their time is over. */
  long leftNanos() {
    long nowNanos = System.nanoTime();
    long left = deadlineNanos - nowNanos;
    return Math.max(0, closing ? Math.min(left, closingDeadlineNanos - nowNanos) : left);
  }

  private void look() {
    if (next != null) {
      next.cancel(false);
      next = null;
    }
    long left = leftNanos();
    if (left == 0 && !over) {
      over = true;
      overNanos = System.nanoTime();
      brokenOff = state.openExchanges();
      if (brokenOff > 0) {
        logger.info("drain: the deadline has come, exchanges that are ended {}", brokenOff);
      }
      endExchanges.run();
    }
    if (closing && (left == 0 || state.openExchanges() == 0)) {
      finish();
    } else if (left > 0) {
      next =
          loop.schedule(
              this::look, closing ? Math.min(left, POLL_NANOS) : left, TimeUnit.NANOSECONDS);
    }
  }

  private void finish() {
    long wait = brokenOff == 0 ? 0 : overNanos + LAST_WORDS_NANOS - System.nanoTime();
    loop.schedule(() -> done.complete(brokenOff), Math.max(0, wait), TimeUnit.NANOSECONDS);
  }
}
