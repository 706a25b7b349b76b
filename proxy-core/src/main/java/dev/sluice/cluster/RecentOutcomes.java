package dev.sluice.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/** How the attempts at one endpoint ended within the last ten seconds. Safe for all threads. */
final class RecentOutcomes {
  /*
   * One bucket for about a second, 2^30 ns, reused when the ring comes round. A bucket is one long,
   * so that its time and its counts change together: 24 bits of the time, 20 for each kind of
   * outcome. A count that is full stays full.
   */

  /** How far back the counts reach, up to a bucket more. */
  static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int TICK_BITS = 30;
  private static final int WINDOW_TICKS = (int) (WINDOW_NANOS >> TICK_BITS) + 1;
  private static final int RING = 16;

  /** What is counted. */
  enum Kind {
    SUCCESS(0),
    FAILURE(COUNT_BITS);

    private final int shift;

    Kind(int shift) {
      this.shift = shift;
    }
  }

  private static final int COUNT_BITS = 20;
  private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;
  private static final int STAMP_SHIFT = 2 * COUNT_BITS;
  private static final long STAMP_MASK = (1L << (Long.SIZE - STAMP_SHIFT)) - 1;

  private final AtomicLongArray buckets = new AtomicLongArray(RING);

  void add(Kind kind, long nowNanos) {
    long stamp = stamp(nowNanos);
    int index = (int) stamp & (RING - 1);
    long before;
    long after;
    do {
      before = buckets.get(index);
      long current = before >>> STAMP_SHIFT == stamp ? before : stamp << STAMP_SHIFT;
      if (count(current, kind) == COUNT_MASK) {
        return;
      }
      after = current + (1L << kind.shift);
    } while (!buckets.compareAndSet(index, before, after));
  }

  int count(Kind kind, long nowNanos) {
    long stamp = stamp(nowNanos);
    long sum = 0;
    for (int i = 0; i < RING; i++) {
      long bucket = buckets.get(i);
      long age = (stamp - (bucket >>> STAMP_SHIFT)) & STAMP_MASK;
      // Another thread's clock may be ahead of this one's, by a tick: its newest bucket counts.
      if (age < WINDOW_TICKS || age == STAMP_MASK) {
        sum += count(bucket, kind);
      }
    }
    return (int) sum;
  }

  private static long stamp(long nowNanos) {
    return nowNanos >>> TICK_BITS & STAMP_MASK;
  }

  private static long count(long bucket, Kind kind) {
    return bucket >>> kind.shift & COUNT_MASK;
  }

  void clear() {
    for (int i = 0; i < RING; i++) {
      buckets.set(i, 0);
    }
  }
}
