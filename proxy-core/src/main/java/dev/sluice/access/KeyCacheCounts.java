package dev.sluice.access;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** How look-ups of keys were answered, since the start. Safe for all threads. */
public final class KeyCacheCounts {
  /** How one look-up was answered. */
  public enum Result {
    /** A key that is remembered. */
    HIT,
    /** Remembered that there is no such key. */
    HIT_UNKNOWN,
    /** The directory was asked and knew the key. */
    MISS,
    /** The directory was asked and knew no such key. */
    MISS_UNKNOWN,
    /** The directory did not answer. */
    FAILED
  }

  private final Map<Result, LongAdder> counts = new EnumMap<>(Result.class);

  /** All counts at zero. */
  public KeyCacheCounts() {
    for (Result result : Result.values()) {
      counts.put(result, new LongAdder());
    }
  }

  /** How many look-ups were answered so. */
  public long count(Result result) {
    return adder(result).sum();
  }

  void add(Result result) {
    adder(result).increment();
  }

  private LongAdder adder(Result result) {
    return Objects.requireNonNull(counts.get(result));
  }
}
