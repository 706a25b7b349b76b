package dev.sluice.slots;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts what is in use against a limit that whoever asks brings along, exactly: nobody gets one
 * while as many as its limit are held, whatever the number of threads. Lock-free.
 *
 * <p>A limit below what is in use takes nothing away. It admits nobody until enough were released.
 */
public final class BoundedCounter {
  /*
   * One compare-and-set per acquisition. A LongAdder would spread contention but cannot hold a
   * limit: its sum is not a snapshot. Exchanges begin some thousand times a second; one contended
   * word is far from being felt.
   */
  private final AtomicInteger inUse = new AtomicInteger();

  /**
   * Takes one, where fewer than the limit are in use.
   *
   * @param limit at least 1
   * @return how many are in use with this one; where none was free how many are, negated
   */
  public int tryAcquire(int limit) {
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

  /** Gives one back. */
  public void release() {
    int now = inUse.decrementAndGet();
    if (now < 0) {
      throw new IllegalStateException("in use: " + now + " (expected: >= 0)");
    }
  }

  /** How many are in use now. */
  public int inUse() {
    return inUse.get();
  }
}
