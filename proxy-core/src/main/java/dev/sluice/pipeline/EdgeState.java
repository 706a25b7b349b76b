package dev.sluice.pipeline;

import dev.sluice.exchange.Snapshot;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Whether requests are taken, what is configured now, and how many exchanges are under way. Safe
 * for all threads.
 */
final class EdgeState {
  /** A user event to every connection: a running exchange has had its time. */
  static final Object GRACE_OVER = new Object();

  /** A user event to every connection: the caller's key may be good no longer. */
  static final Object KEYS_CHANGED = new Object();

  enum Phase {
    STARTING,
    READY,
    DRAINING
  }

  private final AtomicInteger exchanges = new AtomicInteger();
  private final Maintenance maintenance;
  private volatile boolean started;
  private volatile boolean draining;
  private volatile Snapshot snapshot;

  /**
   * Starting, and nothing in maintenance.
   *
   * @param snapshot what is configured
   * @param nanoTime the clock, as {@link System#nanoTime()}
   */
  EdgeState(Snapshot snapshot, LongSupplier nanoTime) {
    this.snapshot = snapshot;
    this.maintenance = new Maintenance(nanoTime);
  }

  /** What exchanges begin with now. Those under way keep what they began with. */
  Snapshot snapshot() {
    return snapshot;
  }

  void snapshot(Snapshot next) {
    snapshot = next;
  }

  Phase phase() {
    // A drain that begins before the start is over is not ended by that: nothing ends it.
    return draining ? Phase.DRAINING : started ? Phase.READY : Phase.STARTING;
  }

  void ready() {
    started = true;
  }

  void drain() {
    draining = true;
  }

  boolean isDraining() {
    return draining;
  }

  Maintenance maintenance() {
    return maintenance;
  }

  void exchangeBegan() {
    exchanges.incrementAndGet();
  }

  void exchangeEnded() {
    exchanges.decrementAndGet();
  }

  int openExchanges() {
    return exchanges.get();
  }
}
