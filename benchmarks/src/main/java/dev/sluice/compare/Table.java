package dev.sluice.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Samples as text: medians over the rounds, and their spread. */
final class Table {
  private Table() {}

  /** One sample on one line. */
  static String line(Sample sample) {
    return String.format(Locale.ROOT, "%-8s %8s  ", sample.proxy(), number(sample.x()))
        + sample.figures().entrySet().stream()
            .map(figure -> figure.getKey() + " " + number(figure.getValue()))
            .collect(Collectors.joining("  "));
  }

  /** The table of one measurement: a row for each step and proxy. */
  static String text(Measurement measurement, List<Sample> samples) {
    List<Sample> own =
        samples.stream().filter(s -> s.measurement().equals(measurement.name())).toList();
    Set<String> figures = new LinkedHashSet<>();
    own.forEach(sample -> figures.addAll(sample.figures().keySet()));
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(measurement.varied(), "proxy"));
    head.addAll(figures);
    head.add("to the better");
    rows.add(head);
    for (Map.Entry<Double, Map<String, List<Sample>>> step : byStepAndProxy(own).entrySet()) {
      for (Map.Entry<String, List<Sample>> proxy : step.getValue().entrySet()) {
        List<String> row = new ArrayList<>(List.of(number(step.getKey()), proxy.getKey()));
        figures.forEach(figure -> row.add(spread(values(proxy.getValue(), figure))));
        row.add(ratio(figures.iterator().next(), proxy.getKey(), step.getValue()));
        rows.add(row);
      }
    }
    return measurement.name() + ": " + measurement.title() + "\n" + aligned(rows);
  }

  /** Every sample, one figure a line. */
  static String csv(List<Sample> samples) {
    StringBuilder csv = new StringBuilder("measurement,x,proxy,round,figure,value\n");
    for (Sample sample : samples) {
      sample
          .figures()
          .forEach(
              (figure, value) ->
                  csv.append(
                      String.format(
                          Locale.ROOT,
                          "%s,%s,%s,%d,%s,%.3f%n",
                          sample.measurement(),
                          number(sample.x()),
                          sample.proxy(),
                          sample.round(),
                          figure,
                          value)));
    }
    return csv.toString();
  }

  static Map<Double, Map<String, List<Sample>>> byStepAndProxy(List<Sample> samples) {
    return samples.stream()
        .collect(
            Collectors.groupingBy(
                Sample::x,
                LinkedHashMap::new,
                Collectors.groupingBy(Sample::proxy, LinkedHashMap::new, Collectors.toList())));
  }

  static double[] values(List<Sample> samples, String figure) {
    return samples.stream()
        .mapToDouble(sample -> sample.figures().getOrDefault(figure, Double.NaN))
        .sorted()
        .toArray();
  }

  /** The median; of an even number of values the mean of the middle two. */
  static double median(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private static String spread(double[] sorted) {
    String median = number(median(sorted));
    return sorted.length == 1 || sorted[0] == sorted[sorted.length - 1]
        ? median
        : median + " (" + number(sorted[0]) + "-" + number(sorted[sorted.length - 1]) + ")";
  }

  /** Sluice's median, divided by the lowest of the others'. */
  private static String ratio(String figure, String proxy, Map<String, List<Sample>> byProxy) {
    double best =
        byProxy.entrySet().stream()
            .filter(other -> !other.getKey().equals(Launcher.SLUICE))
            .mapToDouble(other -> median(values(other.getValue(), figure)))
            .min()
            .orElse(Double.NaN);
    List<Sample> own = byProxy.get(proxy);
    return !proxy.equals(Launcher.SLUICE) || own == null || Double.isNaN(best)
        ? ""
        : String.format(Locale.ROOT, "%.2f", median(values(own, figure)) / best);
  }

  private static String aligned(List<List<String>> rows) {
    int[] widths = new int[rows.get(0).size()];
    for (List<String> row : rows) {
      Arrays.setAll(widths, i -> Math.max(widths[i], row.get(i).length()));
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder(" ");
      for (int i = 0; i < widths.length; i++) {
        line.append(' ').append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 1));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  static String number(double value) {
    if (Double.isNaN(value)) {
      return "-";
    }
    return value == Math.rint(value) || Math.abs(value) >= 1_000
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, Math.abs(value) < 10 ? "%.2f" : "%.1f", value);
  }
}
