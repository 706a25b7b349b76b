package dev.sluice.telemetry;

import dev.sluice.error.Reason;
import dev.sluice.error.Side;
import dev.sluice.exchange.ExchangeListener;
import dev.sluice.exchange.ExchangeSummary;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How many exchanges failed in the last minutes, by reason, through no fault of their callers. Safe
 * for all threads; never blocks.
 */
public final class RecentFailures implements ExchangeListener {
  /** Over how many minutes, the one that has begun included. */
  public static final int MINUTES = 5;

  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final AtomicReferenceArray<@Nullable Minute> minutes =
      new AtomicReferenceArray<>(MINUTES);
  private final LongSupplier nanoTime;
  private final long beginNanos;

  /** The counts of one minute. */
  private record Minute(long number, Map<Reason, AtomicInteger> counts) {
    Minute(long number) {
      this(number, new EnumMap<>(Reason.class));
      for (Reason reason : Reason.values()) {
        counts.put(reason, new AtomicInteger());
      }
    }
  }

  /**
   * None yet.
   *
   * @param nanoTime the clock, as {@link System#nanoTime()}
   */
  public RecentFailures(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.beginNanos = nanoTime.getAsLong();
  }

  @Override
  public void ended(ExchangeSummary summary) {
    Reason reason = summary.reason();
    if (reason != null && reason.side() != Side.DOWNSTREAM) {
      Objects.requireNonNull(minute().counts.get(reason)).incrementAndGet();
    }
  }

  private long number() {
    return (nanoTime.getAsLong() - beginNanos) / MINUTE_NANOS;
  }

  private Minute minute() {
    long number = number();
    int place = (int) (number % MINUTES);
    while (true) {
      Minute now = minutes.get(place);
      if (now != null && now.number >= number) {
        return now;
      }
      Minute next = new Minute(number);
      if (minutes.compareAndSet(place, now, next)) {
        return next;
      }
    }
  }

  /** The reasons of the last minutes, each with how many failed for it. */
  public Map<Reason, Integer> counts() {
    long oldest = number() - MINUTES + 1;
    Map<Reason, Integer> counts = new EnumMap<>(Reason.class);
    for (int i = 0; i < MINUTES; i++) {
      Minute minute = minutes.get(i);
      if (minute != null && minute.number >= oldest) {
        minute.counts.forEach(
            (reason, count) -> {
              if (count.get() > 0) {
                counts.merge(reason, count.get(), Integer::sum);
              }
            });
      }
    }
    return counts;
  }
}
