package dev.sluice.cluster;

import dev.sluice.cluster.LiveEndpoint.State;
import java.util.concurrent.atomic.AtomicInteger;

/** Load and health of one endpoint. Safe for all threads. */
final class Vitals {
  private final AtomicInteger open = new AtomicInteger();
  private volatile boolean out;

  int open() {
    return open.get();
  }

  void begun() {
    open.incrementAndGet();
  }

  void ended() {
    open.decrementAndGet();
  }

  State state(long nowNanos) {
    return out ? State.OUT : State.HEALTHY;
  }

  void out(boolean now) {
    out = now;
  }
}
