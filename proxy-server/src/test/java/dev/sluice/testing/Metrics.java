package dev.sluice.testing;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One scrape in the Prometheus text format. */
public final class Metrics {
  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{.*\\})? (\\S+)");

  private final Map<String, Double> samples = new TreeMap<>();

  Metrics(String text) {
    for (String line : text.lines().toList()) {
      if (!line.startsWith("#") && !line.isBlank()) {
        Matcher sample = SAMPLE.matcher(line);
        if (!sample.matches()) {
          throw new AssertionError("not a sample: " + line);
        }
        String labels = sample.group(2) == null ? "{}" : sample.group(2);
        samples.put(sample.group(1) + labels, Double.valueOf(sample.group(3)));
      }
    }
  }

  /** The sum of a meter's samples that carry all these labels, each as {@code name="value"}. */
  public double sum(String name, String... labels) {
    double sum = 0;
    for (Map.Entry<String, Double> sample : samples.entrySet()) {
      if (matches(sample.getKey(), name, labels)) {
        sum += sample.getValue();
      }
    }
    return sum;
  }

  /** Whether a meter has a sample that carries all these labels. */
  public boolean has(String name, String... labels) {
    return samples.keySet().stream().anyMatch(sample -> matches(sample, name, labels));
  }

  private static boolean matches(String sample, String name, String... labels) {
    if (!sample.startsWith(name + "{")) {
      return false;
    }
    for (String label : labels) {
      if (!sample.contains("{" + label) && !sample.contains("," + label)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    samples.forEach((name, value) -> text.append(name).append(' ').append(value).append('\n'));
    return text.toString();
  }
}
