package dev.sluice.status;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * How one model was over the last 24 hours: for each five minutes, how often it was seen in each
 * {@link Availability}. Some 4.6 KB, however long it lives. One thread at a time.
 */
final class Day {
  /** How much time one bucket stands for. */
  static final Duration BUCKET = Duration.ofMinutes(5);

  static final int BUCKETS = (int) (Duration.ofDays(1).toSeconds() / BUCKET.toSeconds());

  /** In a history: not seen. */
  static final char NOT_SEEN = '-';

  private final Map<Availability, int[]> seen = new EnumMap<>(Availability.class);
  private long newest = Long.MIN_VALUE;

  Day() {
    for (Availability availability : Availability.values()) {
      seen.put(availability, new int[BUCKETS]);
    }
  }

  /** The number of the bucket of a time. */
  static long bucket(long epochSecond) {
    return Math.floorDiv(epochSecond, BUCKET.toSeconds());
  }

  /** Counts what was seen in a bucket; where the clock went back, in the newest. */
  void see(long bucket, Availability availability) {
    moveTo(bucket);
    seen(availability)[place(newest)]++;
  }

  private int[] seen(Availability availability) {
    return Objects.requireNonNull(seen.get(availability));
  }

  private void moveTo(long bucket) {
    if (newest == Long.MIN_VALUE || bucket - newest >= BUCKETS) {
      seen.values().forEach(counts -> Arrays.fill(counts, 0));
      newest = bucket;
    }
    while (newest < bucket) {
      newest++;
      seen.values().forEach(counts -> counts[place(newest)] = 0);
    }
  }

  private static int place(long bucket) {
    return Math.floorMod(bucket, BUCKETS);
  }

  /** The worst that was seen in each bucket of the day that ends with this one, oldest first. */
  String letters(long last) {
    StringBuilder letters = new StringBuilder(BUCKETS);
    for (long bucket = last - BUCKETS + 1; bucket <= last; bucket++) {
      letters.append(isKept(bucket) ? letter(bucket) : NOT_SEEN);
    }
    return letters.toString();
  }

  private boolean isKept(long bucket) {
    return bucket <= newest && bucket > newest - BUCKETS;
  }

  private char letter(long bucket) {
    char worst = NOT_SEEN;
    for (Map.Entry<Availability, int[]> entry : seen.entrySet()) {
      if (entry.getValue()[place(bucket)] > 0) {
        worst = entry.getKey().letter();
      }
    }
    return worst;
  }

  /**
   * How much of the time outside maintenance it answered, in tenths of a percent, rounded down; -1
   * where it was not seen outside maintenance.
   */
  int permilleAnswered(long last) {
    long answered = 0;
    long not = 0;
    for (long bucket = last - BUCKETS + 1; bucket <= last; bucket++) {
      if (isKept(bucket)) {
        int place = place(bucket);
        answered += seen(Availability.AVAILABLE)[place] + seen(Availability.DEGRADED)[place];
        not += seen(Availability.UNAVAILABLE)[place];
      }
    }
    return answered + not == 0 ? -1 : (int) (answered * 1000 / (answered + not));
  }
}
