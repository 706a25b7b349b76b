package dev.sluice.pipeline;

import dev.sluice.exchange.Snapshot;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whether requests are taken, what is configured now, and how many exchanges are under way. Safe
 * for all threads.
 */
final class EdgeState {
  /** A user event to every connection: the grace period of a shutdown is over. */
  static final Object GRACE_OVER = new Object();

  enum Phase {
    STARTING,
    READY,
    DRAINING
  }

  private final AtomicInteger exchanges = new AtomicInteger();
  private volatile Phase phase = Phase.STARTING;
  private volatile Snapshot snapshot;

  EdgeState(Snapshot snapshot) {
    this.snapshot = snapshot;
  }

  /** What exchanges begin with now. Those under way keep what they began with. */
  Snapshot snapshot() {
    return snapshot;
  }

  void snapshot(Snapshot next) {
    snapshot = next;
  }

  Phase phase() {
    return phase;
  }

  void phase(Phase next) {
    phase = next;
  }

  boolean isDraining() {
    return phase == Phase.DRAINING;
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
