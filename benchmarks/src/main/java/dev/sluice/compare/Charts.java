package dev.sluice.compare;

import dev.sluice.compare.Chart.Point;
import dev.sluice.compare.Chart.Tick;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** The charts of a comparison. */
final class Charts {
  /** Drawn by how rare the rest is: each nine is as far from the next. */
  private static final double[] PERCENTILES = {50, 75, 90, 95, 99, 99.5, 99.9, 99.99};

  private Charts() {}

  /** All charts of what was measured, by the names of their files. */
  static Map<String, String> of(
      List<Measurement> measurements,
      List<Sample> samples,
      Map<String, Map<String, Histogram>> latencies) {
    Map<String, String> charts = new LinkedHashMap<>();
    for (Measurement measurement : measurements) {
      Map<String, Histogram> byProxy = latencies.get(measurement.name());
      if (byProxy != null) {
        charts.put(measurement.name() + "-latency.svg", latency(measurement, byProxy).svg());
      }
      if (measurement.steps().size() > 1) {
        charts.put(measurement.name() + "-cpu.svg", cpu(measurement, samples).svg());
      }
    }
    List<Sample> memory = named(samples, Comparison.MEMORY_CURVE);
    if (!memory.isEmpty()) {
      charts.put("memory.svg", memory(memory).svg());
    }
    return charts;
  }

  private static Chart latency(Measurement measurement, Map<String, Histogram> byProxy) {
    Chart chart =
        new Chart(measurement.name() + ": latency, all rounds", "percentile", true, "us", true);
    byProxy.forEach(
        (proxy, histogram) -> {
          List<Point> points = new ArrayList<>();
          for (double percentile : PERCENTILES) {
            points.add(
                new Point(rarity(percentile), histogram.getValueAtPercentile(percentile) / 1e3));
          }
          chart.line(proxy, points);
        });
    List<Tick> ticks = new ArrayList<>();
    for (double percentile : PERCENTILES) {
      String text = Double.toString(percentile).replaceFirst("\\.0$", "");
      ticks.add(new Tick(rarity(percentile), text));
    }
    chart.xTicks(ticks);
    return chart;
  }

  private static double rarity(double percentile) {
    return 100 / (100 - percentile);
  }

  private static Chart cpu(Measurement measurement, List<Sample> samples) {
    String each = measurement.counted() == Measurement.Counted.EVENT ? "event" : "request";
    Chart chart =
        new Chart(
            measurement.name() + ": " + measurement.title(),
            measurement.varied(),
            true,
            "us of CPU time for each " + each,
            false);
    Map<String, List<Point>> lines = new LinkedHashMap<>();
    Table.byStepAndProxy(named(samples, measurement.name()))
        .forEach(
            (x, byProxy) ->
                byProxy.forEach(
                    (proxy, own) ->
                        lines
                            .computeIfAbsent(proxy, name -> new ArrayList<>())
                            .add(new Point(x, Table.median(Table.values(own, Comparison.CPU))))));
    lines.forEach(chart::line);
    return chart;
  }

  private static Chart memory(List<Sample> curve) {
    Chart chart =
        new Chart("memory: resident, while streams open", "open streams", false, "MB", false);
    curve.stream()
        .collect(Collectors.groupingBy(Sample::proxy, LinkedHashMap::new, Collectors.toList()))
        .forEach(
            (proxy, own) ->
                chart.line(
                    proxy,
                    own.stream()
                        .map(
                            sample ->
                                new Point(
                                    sample.x(),
                                    sample.figures().getOrDefault(Comparison.RESIDENT, Double.NaN)))
                        .toList()));
    return chart;
  }

  private static List<Sample> named(List<Sample> samples, String measurement) {
    return samples.stream().filter(s -> s.measurement().equals(measurement)).toList();
  }
}
