package dev.sluice.upstream;

import java.util.concurrent.atomic.LongAdder;

/** How many connections to one model's endpoints are in which state. Safe for all threads. */
public final class ConnectionCounts {
  /** What a connection is doing. */
  public enum State {
    /** Not connected yet. */
    CONNECTING,
    /** Carrying an exchange. */
    ACTIVE,
    /** Waiting in its pool. */
    IDLE
  }

  private final LongAdder connecting = new LongAdder();
  private final LongAdder active = new LongAdder();
  private final LongAdder idle = new LongAdder();

  /** How many are in that state now. */
  public long count(State state) {
    return adder(state).sum();
  }

  void enter(State state) {
    adder(state).increment();
  }

  void leave(State state) {
    adder(state).decrement();
  }

  private LongAdder adder(State state) {
    return switch (state) {
      case CONNECTING -> connecting;
      case ACTIVE -> active;
      case IDLE -> idle;
    };
  }
}
