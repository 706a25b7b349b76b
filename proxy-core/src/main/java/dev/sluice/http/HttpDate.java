package dev.sluice.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The value of a {@code Date} header, RFC 9110 section 6.6.1, formatted once a second. */
public final class HttpDate {
  private static final DateTimeFormatter IMF_FIXDATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private record Formatted(long second, String text) {}

  // A race formats the same second twice: harmless.
  private static volatile Formatted last = new Formatted(Long.MIN_VALUE, "");

  private HttpDate() {}

  /** The date of this time, in milliseconds since the epoch. */
  public static String at(long epochMillis) {
    long second = Math.floorDiv(epochMillis, 1000L);
    Formatted formatted = last;
    if (formatted.second != second) {
      formatted = new Formatted(second, IMF_FIXDATE.format(Instant.ofEpochSecond(second)));
      last = formatted;
    }
    return formatted.text;
  }
}
