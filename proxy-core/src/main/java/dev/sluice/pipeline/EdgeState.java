package dev.sluice.pipeline;

import java.util.concurrent.atomic.AtomicInteger;

/** Whether requests are taken, and how many exchanges are under way. Safe for all threads. */
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
