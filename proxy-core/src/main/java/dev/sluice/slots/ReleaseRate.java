package dev.sluice.slots;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How often the slots of a plan come free, from the releases seen, and when a refused caller should
 * come back. Lock-free; allocates nothing after its construction. Times are readings of one
 * monotonic clock, in nanoseconds.
 */
final class ReleaseRate {
  /*
   * The mean gap between two releases is an exponentially weighted one. A gap g between a release
   * and the one before it moves it by
   *
   *     mean += max(1/8, g / (g + 10 s)) * (g - mean)
   *
   * The 1/8 forgets by count: after a long silence some sixteen releases are enough to learn a fast
   * rate. g / (g + 10 s) forgets by time: one gap of half a minute outweighs whatever burst came
   * before it. A gap begins with the release before it, or with the plan's first stream after a time
   * without any: when nothing runs nothing can come free, and that says nothing of the rate.
   *
   * The gap that is under way counts once it is longer than the mean:
   *
   *     gap     = max(mean, now - begin of the gap)
   *     wait    = min(gap * releases that must happen first, 40 s)
   *     seconds = ceil(wait * (1 + random / 2)), at least 1           0 <= random < 1
   *
   * so seconds are within 1 to 60, and callers who were refused at one instant are spread over half
   * their wait, at the upper bound too. Nothing seen yet: the plan's slots have been busy for as
   * long as the gap is under way, which is all there is to go by.
   *
   * The two words are not read or written as one. Each release takes the begin of its gap with one
   * exchange, so that no gap counts twice or is lost; which of two simultaneous releases moves the
   * mean first is of no weight.
   */
  private static final double LEAST_WEIGHT = 1.0 / 8;

  private static final double MEMORY_NANOS = 10e9;
  private static final double LONGEST_WAIT_NANOS = 40e9;
  private static final double SPREAD = 0.5;
  private static final double NANOS_A_SECOND = 1e9;

  private static final long NONE = -1;

  private final AtomicLong gapBeganNanos;
  private final AtomicLong meanNanos = new AtomicLong(NONE);

  /** A rate of which nothing is known. */
  ReleaseRate(long nowNanos) {
    gapBeganNanos = new AtomicLong(nowNanos);
  }

  /** The first stream after a time without any is about to start. */
  void begin(long nowNanos) {
    gapBeganNanos.set(nowNanos);
  }

  /** A slot comes free. */
  void released(long nowNanos) {
    // Another thread may have read the clock later and come first.
    long gap = Math.max(0, nowNanos - gapBeganNanos.getAndSet(nowNanos));
    double weight = Math.max(LEAST_WEIGHT, gap / (gap + MEMORY_NANOS));
    long mean = meanNanos.get();
    while (true) {
      long next = mean == NONE ? gap : mean + (long) (weight * (gap - mean));
      long seen = meanNanos.compareAndExchange(mean, next);
      if (seen == mean) {
        return;
      }
      mean = seen;
    }
  }

  /**
   * How long a refused caller should wait, jittered.
   *
   * @param releases how many slots must come free before there is one for the caller; at least 1
   * @param random from 0, inclusive, to 1, exclusive
   * @return whole seconds, 1 to 60
   */
  int secondsUntil(double releases, long nowNanos, double random) {
    double gap = Math.max(meanNanos.get(), nowNanos - gapBeganNanos.get());
    double wait = Math.min(gap * releases, LONGEST_WAIT_NANOS);
    return (int) Math.max(1, Math.ceil(wait * (1 + SPREAD * random) / NANOS_A_SECOND));
  }
}
