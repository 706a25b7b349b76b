package dev.sluice.http;

import org.jspecify.annotations.Nullable;

/**
 * Compares the media type of a {@code Content-Type}, RFC 9110 section 8.3; parameters do not count.
 */
public final class MediaType {
  private MediaType() {}

  /** Whether it is {@code application/json}, in any case, with any parameters. */
  public static boolean isJson(@Nullable String contentType) {
    return is(contentType, "application/json");
  }

  /** Whether it is {@code text/event-stream}, in any case, with any parameters. */
  public static boolean isEventStream(@Nullable String contentType) {
    return is(contentType, "text/event-stream");
  }

  private static boolean is(@Nullable String contentType, String type) {
    if (contentType == null) {
      return false;
    }
    int length = contentType.length();
    int from = skipBlanks(contentType, 0);
    if (!contentType.regionMatches(true, from, type, 0, type.length())) {
      return false;
    }
    int after = skipBlanks(contentType, from + type.length());
    return after == length || contentType.charAt(after) == ';';
  }

  private static int skipBlanks(String text, int from) {
    int at = from;
    while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t')) {
      at++;
    }
    return at;
  }
}
