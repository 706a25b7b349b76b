package dev.sluice.cluster;

import dev.sluice.cluster.LiveEndpoint.Cause;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Load and health of one endpoint, as {@link Health} keeps them. What has no comment is safe for
 * all threads.
 */
final class Vitals {
  private final AtomicInteger open = new AtomicInteger();
  private final Map<Cause, LongAdder> ejectionCounts = new EnumMap<>(Cause.class);
  private final LongAdder probesWell = new LongAdder();
  private final LongAdder probesUnwell = new LongAdder();
  private final AtomicInteger troublesInARow = new AtomicInteger();
  private volatile long lastTroubleNanos;

  final RecentOutcomes recent = new RecentOutcomes();
  final AtomicInteger failuresInARow = new AtomicInteger();

  /** Written under the lock of {@link Health}. */
  volatile Condition condition = Condition.PLAIN;

  /** Written under the lock of {@link Health}. Whether one failure ejects it again. */
  volatile boolean probation;

  /** Under the lock of {@link Health}. Ejections that are not forgotten yet. */
  int ejections;

  /** Under the lock of {@link Health}. Since when it does well after an ejection. */
  long goodSinceNanos;

  /**
   * Written by the one thread that probes. How many probes in a row went well, or, below 0, not.
   */
  volatile int probesInARow;

  /** Written under the lock of {@link Health}. When the last probe ended. */
  volatile long probedNanos;

  Vitals() {
    for (Cause cause : Cause.values()) {
      ejectionCounts.put(cause, new LongAdder());
    }
  }

  int open() {
    return open.get();
  }

  void begun() {
    open.incrementAndGet();
  }

  void ended() {
    open.decrementAndGet();
  }

  /** An attempt failed or was refused. */
  void trouble(long nowNanos) {
    lastTroubleNanos = nowNanos;
    troublesInARow.incrementAndGet();
  }

  /** It answered, or what was known against it is forgotten. */
  void noTrouble() {
    if (troublesInARow.get() != 0) {
      troublesInARow.set(0);
    }
  }

  /** Whether the last that is known of it is trouble. */
  boolean inTrouble() {
    return troublesInARow.get() != 0;
  }

  /** Whether there was as much trouble in a row as ejects, the last of it lately. */
  boolean isFailing(long nowNanos) {
    return troublesInARow.get() >= Health.FAILURES_IN_A_ROW
        && nowNanos - lastTroubleNanos < Health.LONGEST_EJECTION_NANOS;
  }

  /** Whether that was so lately that another endpoint is the better choice, where there is one. */
  boolean isDoubtful(long nowNanos) {
    int inARow = troublesInARow.get();
    return inARow != 0 && nowNanos - lastTroubleNanos < Health.doubtNanos(inARow);
  }

  LongAdder ejectionCount(Cause cause) {
    return Objects.requireNonNull(ejectionCounts.get(cause));
  }

  LongAdder probeCount(boolean well) {
    return well ? probesWell : probesUnwell;
  }
}
