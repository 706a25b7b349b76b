package dev.sluice.slots;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts slots in use against a limit, exactly: never more than the limit are held at once,
 * whatever the number of threads. Lock-free.
 */
final class SlotCounter {
  /*
   * One compare-and-set per acquisition. A LongAdder would spread contention but cannot hold a
   * limit: its sum is not a snapshot. Streams start some hundred times a second; one contended word
   * is far from being felt.
   */
  private final AtomicInteger inUse = new AtomicInteger();
  private final int limit;

  SlotCounter(int limit) {
    this.limit = limit;
  }

  /** Takes a slot; false where all are in use. */
  boolean tryAcquire() {
    int current = inUse.get();
    while (current < limit) {
      int seen = inUse.compareAndExchange(current, current + 1);
      if (seen == current) {
        return true;
      }
      current = seen;
    }
    return false;
  }

  /** Gives a slot back and returns how many are in use now. */
  int release() {
    int now = inUse.decrementAndGet();
    if (now < 0) {
      throw new IllegalStateException("slots in use: " + now + " (expected: >= 0)");
    }
    return now;
  }

  int inUse() {
    return inUse.get();
  }

  int limit() {
    return limit;
  }
}
