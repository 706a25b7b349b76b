package dev.sluice.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A line chart as SVG. Written by hand: libraries that draw need the fonts of a desktop, which a
 * machine that measures seldom has.
 */
final class Chart {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 400;
  private static final int LEFT = 70;
  private static final int RIGHT = 20;
  private static final int TOP = 40;
  private static final int LEGEND_WIDTH = 90;
  private static final int BOTTOM = 50;

  /** One colour each, told apart by the colour-blind, too. */
  private static final List<String> COLOURS =
      List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9");

  /** One point of a line. */
  record Point(double x, double y) {}

  /** One mark on the x axis. */
  record Tick(double at, String text) {}

  private final String title;
  private final String xText;
  private final String yText;
  private final boolean logX;
  private final boolean logY;
  private final Map<String, List<Point>> lines = new LinkedHashMap<>();
  private List<Tick> xTicks = List.of();

  /**
   * A chart without lines.
   *
   * @param logX whether the x axis is logarithmic; then every x is above 0
   * @param logY likewise; an axis that is not begins at 0
   */
  Chart(String title, String xText, boolean logX, String yText, boolean logY) {
    this.title = title;
    this.xText = xText;
    this.logX = logX;
    this.yText = yText;
    this.logY = logY;
  }

  /** Adds a line; points that cannot be drawn are left out. */
  void line(String name, List<Point> points) {
    lines.put(
        name,
        points.stream()
            .filter(point -> Double.isFinite(point.x) && Double.isFinite(point.y))
            .filter(point -> (!logX || point.x > 0) && (!logY || point.y > 0))
            .toList());
  }

  /** Marks the x axis so, instead of with round numbers. */
  void xTicks(List<Tick> ticks) {
    xTicks = List.copyOf(ticks);
  }

  /** The document. */
  String svg() {
    Axis x =
        axis(
            logX,
            LEFT,
            WIDTH - RIGHT,
            lines.values().stream().flatMap(List::stream).mapToDouble(Point::x).toArray());
    Axis y =
        axis(
            logY,
            HEIGHT - BOTTOM,
            TOP,
            lines.values().stream().flatMap(List::stream).mapToDouble(Point::y).toArray());
    StringBuilder svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family="
                + "\"sans-serif\" font-size=\"12\">%n<rect width=\"100%%\" height=\"100%%\""
                + " fill=\"white\"/>%n",
            WIDTH,
            HEIGHT));
    text(svg, WIDTH / 2.0, 16, "middle", title);
    text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "middle", xText);
    svg.append("<g transform=\"rotate(-90 14 ").append(HEIGHT / 2).append(")\">");
    text(svg, 14, HEIGHT / 2.0, "middle", yText);
    svg.append("</g>\n");
    for (Tick tick : xTicks.isEmpty() ? x.ticks() : xTicks) {
      double at = x.place(tick.at);
      rule(svg, at, HEIGHT - BOTTOM, at, TOP);
      text(svg, at, HEIGHT - BOTTOM + 18, "middle", tick.text);
    }
    for (Tick tick : y.ticks()) {
      double at = y.place(tick.at);
      rule(svg, LEFT, at, WIDTH - RIGHT, at);
      text(svg, LEFT - 6, at + 4, "end", tick.text);
    }
    int number = 0;
    for (Map.Entry<String, List<Point>> line : lines.entrySet()) {
      String colour = COLOURS.get(number % COLOURS.size());
      StringBuilder points = new StringBuilder();
      for (Point point : line.getValue()) {
        points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x.place(point.x), y.place(point.y)));
      }
      svg.append("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"").append(colour);
      svg.append("\" points=\"").append(points.toString().stripTrailing()).append("\"/>\n");
      // Above the lines, so that none runs through it.
      int at = LEFT + 10 + LEGEND_WIDTH * number;
      svg.append(
          String.format(
              Locale.ROOT,
              "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"3\" fill=\"%s\"/>%n",
              at,
              TOP - 11,
              colour));
      text(svg, at + 18, TOP - 6, "start", line.getKey());
      number++;
    }
    return svg.append("</svg>\n").toString();
  }

  private static void rule(StringBuilder svg, double x1, double y1, double x2, double y2) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>%n",
            x1,
            y1,
            x2,
            y2));
  }

  private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
    String escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    svg.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n",
            x,
            y,
            anchor,
            escaped));
  }

  private static Axis axis(boolean log, double from, double to, double... values) {
    double low = Double.POSITIVE_INFINITY;
    double high = 0;
    for (double value : values) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (values.length == 0 || high <= 0) {
      return new Axis(false, 0, 1, from, to);
    }
    return log
        ? new Axis(true, low, Math.max(high, low * 1.1), from, to)
        : new Axis(false, 0, high * 1.05, from, to);
  }

  /** From numbers to places on the sheet. */
  private record Axis(boolean log, double low, double high, double from, double to) {
    double place(double value) {
      double part =
          log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      return from + part * (to - from);
    }

    /** Round numbers; of a logarithmic axis 1, 2 and 5 of each power of ten. */
    List<Tick> ticks() {
      List<Tick> ticks = new ArrayList<>();
      double power = Math.pow(10, Math.floor(Math.log10(log ? low : high / 4)));
      if (log) {
        for (; power <= high; power *= 10) {
          for (int i : new int[] {1, 2, 5}) {
            add(ticks, i * power);
          }
        }
      } else {
        double step = power;
        for (int i : new int[] {2, 5, 10}) {
          step = high / step > 8 ? i * power : step;
        }
        for (int i = 0; i * step <= high; i++) {
          add(ticks, i * step);
        }
      }
      return ticks;
    }

    private void add(List<Tick> ticks, double value) {
      if (value >= low * 0.999 && value <= high * 1.001) {
        ticks.add(new Tick(value, Table.number(value)));
      }
    }
  }
}
