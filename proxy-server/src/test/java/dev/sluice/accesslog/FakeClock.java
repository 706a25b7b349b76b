package dev.sluice.accesslog;

import java.time.Duration;
import java.util.function.LongSupplier;

/** A clock that stands still until it is told to go on. One thread. */
final class FakeClock implements LongSupplier {
  private long nanos = 17;

  @Override
  public long getAsLong() {
    return nanos;
  }

  void advance(Duration time) {
    nanos += time.toNanos();
  }
}
