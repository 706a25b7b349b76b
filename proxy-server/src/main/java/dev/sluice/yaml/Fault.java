package dev.sluice.yaml;

import java.util.Comparator;
import java.util.Locale;

/**
 * One thing that is wrong in a file.
 *
 * @param file the file as it was named
 * @param line the line, from 1; 0 where the file as a whole is meant
 * @param column the column, from 1; 0 where the file as a whole is meant
 * @param name the dotted name of the value, as in {@code plans.free.streams}; empty for the whole
 * @param found what stands there; bounded, and never a secret
 * @param expected the rule
 */
public record Fault(String file, int line, int column, String name, String found, String expected) {

  /** Most faults of one file that are logged, or told by an answer; the rest is counted. */
  public static final int MAX_TOLD = 50;

  /** Most characters of {@code name} and of {@code found}; the rest is cut. */
  static final int MAX_SHOWN_CHARACTERS = 120;

  static final Comparator<Fault> BY_PLACE =
      Comparator.comparingInt(Fault::line).thenComparingInt(Fault::column);

  /** Bounds what is quoted from the file and escapes what is not printable in it. */
  public Fault {
    name = shown(name);
    found = shown(found);
  }

  /** {@code sluice.yaml:12: plans.free.streams: 0 (expected: a whole number >= 1)}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(file);
    if (line > 0) {
      text.append(':').append(line);
    }
    text.append(": ");
    if (!name.isEmpty()) {
      text.append(name).append(": ");
    }
    return text.append(found).append(" (expected: ").append(expected).append(')').toString();
  }

  private static String shown(String quoted) {
    StringBuilder text = new StringBuilder();
    int[] codePoints = quoted.codePoints().limit(MAX_SHOWN_CHARACTERS + 1L).toArray();
    for (int i = 0; i < Math.min(codePoints.length, MAX_SHOWN_CHARACTERS); i++) {
      if (Printable.isPrintable(codePoints[i])) {
        text.appendCodePoint(codePoints[i]);
      } else {
        text.append(String.format(Locale.ROOT, "\\u%04x", codePoints[i]));
      }
    }
    return codePoints.length > MAX_SHOWN_CHARACTERS ? text.append('…').toString() : text.toString();
  }
}
