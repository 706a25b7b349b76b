package dev.sluice.admin;

import dev.sluice.config.Amounts;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parameters of a call, from its query. Remembers the first that is wrong. */
final class Parameters {
  private static final int MAX_SHOWN = 100;

  private final Map<String, String> values = new HashMap<>();
  private @Nullable String fault;

  /**
   * Reads a query.
   *
   * @param target the request's target
   * @param names the parameters that there are, once each at most
   */
  Parameters(String target, List<String> names) {
    String known = names.isEmpty() ? "no parameters" : String.join(", ", names) + ", once each";
    Map<String, List<String>> given;
    try {
      given = new QueryStringDecoder(target).parameters();
    } catch (IllegalArgumentException e) {
      fault("query", "malformed", "percent-encoded UTF-8");
      return;
    }
    given.forEach(
        (name, all) -> {
          if (names.contains(name) && all.size() == 1) {
            values.put(name, all.get(0));
          } else {
            fault("query", name, known);
          }
        });
  }

  /** What is wrong, as {@code name: value (expected: rule)}; null where nothing is. */
  @Nullable String fault() {
    return fault;
  }

  /** Notes what is wrong, where nothing was before. */
  void fault(String name, String value, String rule) {
    if (fault == null) {
      fault =
          name + ": " + (value.isEmpty() ? "nothing" : shown(value)) + " (expected: " + rule + ")";
    }
  }

  /** The value of a parameter; null where it was not given. */
  @Nullable String text(String name) {
    return values.get(name);
  }

  /** The value of a parameter; null where it was not given, or is no duration. */
  @Nullable Duration duration(String name) {
    String text = values.get(name);
    if (text == null) {
      return null;
    }
    Duration duration = Amounts.durationOrZero(text);
    if (duration == null) {
      fault(name, text, Amounts.DURATION_RULE);
    }
    return duration;
  }

  /** Text of a request, short and on one line. */
  static String shown(String text) {
    StringBuilder shown = new StringBuilder();
    text.codePoints()
        .limit(MAX_SHOWN)
        .map(character -> character >= ' ' && character < 0x7f ? character : '?')
        .forEach(shown::appendCodePoint);
    return text.length() > MAX_SHOWN ? shown.append('…').toString() : shown.toString();
  }
}
