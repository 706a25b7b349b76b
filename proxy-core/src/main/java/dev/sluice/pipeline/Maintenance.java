package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What an operator has taken out of service, and for how long: one model, or all. New requests are
 * answered 503 with the true remaining seconds; running exchanges go on. It ends by itself. It is
 * no part of the configuration, so it outlasts a change of that. Safe for all threads.
 */
public final class Maintenance {
  /** Stands for all models. No model has this id: a configuration that says so is refused. */
  public static final String ALL = "*";

  private static final String AGAIN =
      " Wait the seconds in Retry-After, then send the request again.";
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LongSupplier nanoTime;
  private final Map<String, Long> endsNanos = new ConcurrentHashMap<>();

  Maintenance(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /**
   * Begins, or moves the end of one that has begun.
   *
   * @param model a model's id, or {@link #ALL}
   * @param nanos how long from now; 0 ends it
   */
  public void set(String model, long nanos) {
    if (nanos <= 0) {
      endsNanos.remove(model);
    } else {
      endsNanos.put(model, nanoTime.getAsLong() + nanos);
    }
  }

  /**
   * The seconds that are left, rounded up; 0 where there is no maintenance.
   *
   * @param model a model's id, or {@link #ALL}
   */
  public long remainingSeconds(String model) {
    return (leftNanos(model) + SECOND_NANOS - 1) / SECOND_NANOS;
  }

  /**
   * The nanoseconds that are left; 0 where there is no maintenance.
   *
   * @param model a model's id, or {@link #ALL}
   */
  public long leftNanos(String model) {
    Long end = endsNanos.get(model);
    return end == null ? 0 : Math.max(0, end - nanoTime.getAsLong());
  }

  /** What is on now, with the seconds that are left; {@link #ALL} for all models. */
  public Map<String, Long> remainingSeconds() {
    Map<String, Long> remaining = new TreeMap<>();
    for (String model : endsNanos.keySet()) {
      long seconds = remainingSeconds(model);
      if (seconds > 0) {
        remaining.put(model, seconds);
      }
    }
    return remaining;
  }

  /** What a new request is refused with; null where it is not, or for its model alone. */
  @Nullable Failure ofAll() {
    long seconds = remainingSeconds(ALL);
    return seconds == 0 ? null : failure("Sluice is in maintenance." + AGAIN, seconds);
  }

  /** What a new request for this model is refused with; null where it is not. */
  @Nullable Failure of(String model) {
    long seconds = remainingSeconds(model);
    return seconds == 0 ? null : failure("This model is in maintenance." + AGAIN, seconds);
  }

  private static Failure failure(String message, long seconds) {
    return Failure.retryAfter(
        Reason.MAINTENANCE, message, (int) Math.min(seconds, Integer.MAX_VALUE));
  }
}
