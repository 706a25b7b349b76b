package dev.sluice.compare;

import dev.sluice.load.AskedAnswer;
import dev.sluice.load.Load;
import dev.sluice.load.LoadReport;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * One measurement: a load, or a row of loads that differ in one number.
 *
 * @param name its name on the command line and in files
 * @param title what it is, for a reader
 * @param counted what its CPU time is divided by, and which latency matters
 * @param varied what the steps differ in; of one step, what its number means
 * @param sluiceAlone whether the others have nothing to vary there
 */
record Measurement(
    String name,
    String title,
    Counted counted,
    String varied,
    boolean sluiceAlone,
    List<Step> steps) {

  /** What the CPU time of a measurement is divided by, and which latency matters. */
  enum Counted {
    /** Events, and their time from the upstream to the caller. */
    EVENT,
    /** Answers, and their time to the end. */
    REQUEST,
    /** Streams, and their time to the first byte. */
    STREAM,
    /** Memory alone, on fresh processes. */
    MEMORY;

    Histogram latency(LoadReport report) {
      return switch (this) {
        case EVENT, MEMORY -> report.relayNanos();
        case REQUEST -> report.answerNanos();
        case STREAM -> report.firstByteNanos();
      };
    }

    long count(LoadReport report) {
      return switch (this) {
        case EVENT, MEMORY -> report.events();
        case REQUEST, STREAM -> report.answered();
      };
    }
  }

  /** One load and what the proxies are started with for it. */
  record Step(double x, Load load, Setting setting) {}

  /** What a plain run measures. */
  static final List<Measurement> USUAL =
      List.of(
          one(
              "relay",
              "streams of 50 events of 200 bytes, one each 20 ms",
              Counted.EVENT,
              "streams",
              250,
              Load.streams(250, new AskedAnswer(50, 20, 200))),
          one(
              "requests",
              "requests of 0.5 KB with short answers",
              Counted.REQUEST,
              "requests/s",
              8_000,
              Load.requests(8_000, 500)),
          one(
              "first-byte",
              "streams of one event",
              Counted.STREAM,
              "streams/s",
              200,
              Load.requests(200, 200).answeredWith(new AskedAnswer(1, 1, 200))),
          one(
              "image",
              "requests with an image of 1 MB",
              Counted.REQUEST,
              "requests/s",
              60,
              Load.requests(60, 64).withImage(1_000_000)),
          one(
              "memory",
              "open streams with an event of 200 bytes each 5 s",
              Counted.MEMORY,
              "streams",
              4_000,
              Load.held(4_000, 5_000, 200)));

  /** How cost grows with its causes. */
  static final List<Measurement> SCALING =
      List.of(
          new Measurement(
              "streams",
              "10 000 events of 200 bytes a second over so many open streams",
              Counted.EVENT,
              "streams",
              false,
              steps(usual(x -> Load.held(x, x / 10, 200)), 100, 500, 2_000, 8_000)),
          new Measurement(
              "event-size",
              "200 open streams with an event each 50 ms",
              Counted.EVENT,
              "bytes of one event",
              false,
              steps(usual(x -> Load.held(200, 50, x)), 20, 200, 1_000, 4_000, 16_000)),
          new Measurement(
              "body-size",
              "200 requests a second with a text",
              Counted.REQUEST,
              "bytes of text",
              false,
              steps(usual(x -> Load.requests(200, x)), 1_000, 10_000, 100_000)),
          new Measurement(
              "keys",
              "2 000 requests a second, by so many keys in turn",
              Counted.REQUEST,
              "keys",
              true,
              steps(Measurement::ofKeys, 10, 1_000, 50_000)),
          new Measurement(
              "plans",
              "2 000 streams of one event a second, by 10 000 keys of so many plans in turn",
              Counted.STREAM,
              "plans",
              true,
              steps(Measurement::ofPlans, 1, 100, 10_000)),
          new Measurement(
              "loops",
              "200 streams of 50 events of 200 bytes, one each 20 ms",
              Counted.EVENT,
              "event loops, threads or workers",
              false,
              steps(Measurement::onLoops, 1, 2)));

  private static Measurement one(
      String name, String title, Counted counted, String varied, int x, Load load) {
    return new Measurement(
        name, title, counted, varied, false, List.of(new Step(x, load, Setting.USUAL)));
  }

  private static List<Step> steps(IntFunction<Step> step, int... xs) {
    return IntStream.of(xs).mapToObj(step).toList();
  }

  private static IntFunction<Step> usual(IntFunction<Load> load) {
    return x -> new Step(x, load.apply(x), Setting.USUAL);
  }

  private static Step ofKeys(int keys) {
    Load load = Load.requests(2_000, 500).byKeys(keys);
    return new Step(keys, load, new Setting(Setting.USUAL.loops(), keys, 1));
  }

  private static Step ofPlans(int plans) {
    int keys = 10_000;
    Load load = Load.requests(2_000, 500).byKeys(keys).answeredWith(new AskedAnswer(1, 1, 200));
    return new Step(plans, load, new Setting(Setting.USUAL.loops(), keys, plans));
  }

  private static Step onLoops(int loops) {
    Load load = Load.streams(200, new AskedAnswer(50, 20, 200));
    return new Step(loops, load, new Setting(loops, 1, 1));
  }
}
