package dev.sluice.slots;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts slots in use against a limit that each caller brings along, exactly: nobody gets one while
 * as many as its limit are held, whatever the number of threads. Lock-free.
 *
 * <p>A limit below what is in use takes nothing away. It admits nobody until enough were released.
 */
final class SlotCounter {
  /*
   * One compare-and-set per acquisition. A LongAdder would spread contention but cannot hold a
   * limit: its sum is not a snapshot. Streams start some hundred times a second; one contended word
   * is far from being felt.
   */
  private final AtomicInteger inUse = new AtomicInteger();

  /**
   * Takes a slot, where fewer than the limit are in use.
   *
   * @param limit at least 1
   * @return how many are in use with this one; where none was free how many are, negated
   */
  int tryAcquire(int limit) {
    int current = inUse.get();
    while (current < limit) {
      int seen = inUse.compareAndExchange(current, current + 1);
      if (seen == current) {
        return current + 1;
      }
      current = seen;
    }
    return -current;
  }

  /** Gives a slot back. */
  void release() {
    int now = inUse.decrementAndGet();
    if (now < 0) {
      throw new IllegalStateException("slots in use: " + now + " (expected: >= 0)");
    }
  }

  int inUse() {
    return inUse.get();
  }
}
