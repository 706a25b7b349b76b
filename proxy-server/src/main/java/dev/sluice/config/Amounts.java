package dev.sluice.config;

import dev.sluice.yaml.Value;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Sizes and durations: a whole number and a unit. A number alone is refused. */
public final class Amounts {
  /** What {@link #durationOrZero(String)} takes. */
  public static final String DURATION_RULE = durationRule(0);

  static final int MAX_BYTES = 1 << 30;
  private static final long MAX_LARGE_BYTES = 1L << 40;
  static final Duration MAX_DURATION = Duration.ofHours(24);

  private static final String SIZE_RULE =
      "a size from 1B to 1GiB, as in 32MiB; units B, kB, KiB, MB, MiB, GB, GiB";

  private static final Pattern AMOUNT = Pattern.compile("(0|[1-9][0-9]{0,9})([A-Za-z]{1,3})");

  private static final Pattern SHARE = Pattern.compile("0|1|[01]\\.0{1,9}|0\\.[0-9]{1,9}");

  private static final Map<String, Long> BYTES =
      Map.of(
          "B", 1L,
          "kB", 1_000L,
          "KiB", 1L << 10,
          "MB", 1_000_000L,
          "MiB", 1L << 20,
          "GB", 1_000_000_000L,
          "GiB", 1L << 30);

  private static final List<String> BINARY_UNITS = List.of("B", "KiB", "MiB", "GiB");

  private static final Map<String, Long> MILLIS =
      Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L);

  private Amounts() {}

  /** The value as a number of bytes, 1 to 1 GiB. */
  static int bytes(Value value, int fallback) {
    return value
        .scalar(SIZE_RULE, text -> within(text, BYTES, 1, MAX_BYTES), (long) fallback)
        .intValue();
  }

  /** The value as a number of bytes, from this many to 1 TiB. */
  static OptionalLong largeBytes(Value value, long min, OptionalLong fallback) {
    String rule =
        "a size from " + min + "B to 1024GiB, as in 2GiB; units B, kB, KiB, MB, MiB, GB, GiB";
    return value.scalar(
        rule,
        text -> {
          Long bytes = within(text, BYTES, min, MAX_LARGE_BYTES);
          return bytes == null ? null : OptionalLong.of(bytes);
        },
        fallback);
  }

  /** The value as a duration, 1 ms to 24 h. */
  static Duration duration(Value value, Duration fallback) {
    return duration(value, 1, fallback);
  }

  /** The value as a duration, 0 to 24 h. */
  static Duration durationOrZero(Value value, Duration fallback) {
    return duration(value, 0, fallback);
  }

  /** The text as a duration, 0 to 24 h; null where it is none. */
  public static @Nullable Duration durationOrZero(String text) {
    Long millis = within(text, MILLIS, 0, MAX_DURATION.toMillis());
    return millis == null ? null : Duration.ofMillis(millis);
  }

  /** A number of bytes as a file has it, in the largest unit that leaves a whole number. */
  static String text(long bytes) {
    int steps = Math.min(Long.numberOfTrailingZeros(bytes) / 10, BINARY_UNITS.size() - 1);
    return (bytes >> (10 * steps)) + BINARY_UNITS.get(steps);
  }

  /** A duration as a file has it, in the largest unit that leaves a whole number. */
  static String text(Duration duration) {
    long millis = duration.toMillis();
    for (String unit : List.of("h", "m", "s")) {
      long each = Objects.requireNonNull(MILLIS.get(unit));
      if (millis != 0 && millis % each == 0) {
        return millis / each + unit;
      }
    }
    return millis + "ms";
  }

  /** A share from 0 to 1 in decimal digits; null where the text is none. */
  static @Nullable Double share(String text) {
    return SHARE.matcher(text).matches() ? Double.valueOf(text) : null;
  }

  private static String durationRule(long minMillis) {
    return "a duration from " + minMillis + "ms to 24h, as in 10s; units ms, s, m, h";
  }

  private static Duration duration(Value value, long minMillis, Duration fallback) {
    return Duration.ofMillis(
        value.scalar(
            durationRule(minMillis),
            text -> within(text, MILLIS, minMillis, MAX_DURATION.toMillis()),
            fallback.toMillis()));
  }

  private static @Nullable Long within(String text, Map<String, Long> units, long min, long max) {
    Matcher amount = AMOUNT.matcher(text);
    if (!amount.matches()) {
      return null;
    }
    Long unit = units.get(amount.group(2));
    if (unit == null) {
      return null;
    }
    // Ten digits times the largest unit stays within a long.
    long product = Long.parseLong(amount.group(1)) * unit;
    return product < min || product > max ? null : product;
  }
}
