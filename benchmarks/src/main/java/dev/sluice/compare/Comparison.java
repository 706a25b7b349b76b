package dev.sluice.compare;

import dev.sluice.compare.Measurement.Counted;
import dev.sluice.compare.Measurement.Step;
import dev.sluice.load.AskedAnswer;
import dev.sluice.load.Load;
import dev.sluice.load.LoadGenerator;
import dev.sluice.load.LoadReport;
import dev.sluice.load.Sockets;
import dev.sluice.load.StampedUpstream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/** Runs measurements, on each proxy in turn, and round after round. */
final class Comparison {
  static final String CPU = "CPU us";
  static final String RESIDENT = "resident MB";
  static final String PER_STREAM = "KB per stream";
  static final String FAILED = "failed";

  /** The name under which the growth of memory with open streams is noted. */
  static final String MEMORY_CURVE = "memory-curve";

  private final Sockets sockets;
  private final StampedUpstream upstream;
  private final Launcher launcher;
  private final List<String> proxies;
  private final int rounds;
  private final int windowMillis;
  private final int warmUpMillis;
  private final Consumer<String> progress;
  private final List<Sample> samples = new ArrayList<>();
  private final Map<String, Map<String, Histogram>> latencies = new LinkedHashMap<>();

  /**
   * A comparison.
   *
   * @param proxies their names, in order; Sluice is one of them
   * @param rounds how often each load is put on each proxy
   * @param windowMillis how long each is measured
   * @param warmUpMillis how long Sluice's JVM is loaded before the first round
   * @param progress is told what goes on
   */
  Comparison(
      Sockets sockets,
      StampedUpstream upstream,
      Launcher launcher,
      List<String> proxies,
      int rounds,
      int windowMillis,
      int warmUpMillis,
      Consumer<String> progress) {
    this.sockets = sockets;
    this.upstream = upstream;
    this.launcher = launcher;
    this.proxies = proxies;
    this.rounds = rounds;
    this.windowMillis = windowMillis;
    this.warmUpMillis = warmUpMillis;
    this.progress = progress;
  }

  /** All that was measured so far. */
  List<Sample> samples() {
    return samples;
  }

  /** The latencies of all rounds together, by measurement, then by proxy; of its first step. */
  Map<String, Map<String, Histogram>> latencies() {
    return latencies;
  }

  /** Runs one measurement. Proxies are started for it, and ended. */
  void measure(Measurement measurement)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    progress.accept(measurement.name() + ": " + measurement.title());
    List<Setting> settings = measurement.steps().stream().map(Step::setting).distinct().toList();
    for (Setting setting : settings) {
      List<Step> steps =
          measurement.steps().stream().filter(step -> step.setting().equals(setting)).toList();
      List<Proxy> running = new ArrayList<>();
      try {
        for (String name : proxies) {
          if (!measurement.sluiceAlone() || name.equals(Launcher.SLUICE)) {
            running.add(launcher.start(name, setting));
          }
        }
        warmUp(measurement, steps.get(0), running);
        if (measurement.counted() == Counted.MEMORY) {
          for (Proxy proxy : running) {
            sampleMemory(measurement, steps.get(0), proxy);
          }
        } else {
          rounds(measurement, steps, running);
        }
      } finally {
        running.forEach(Proxy::close);
      }
    }
  }

  private void warmUp(Measurement measurement, Step step, List<Proxy> running)
      throws InterruptedException, ExecutionException, TimeoutException {
    boolean memory = measurement.counted() == Counted.MEMORY;
    for (Proxy proxy : running) {
      if (memory) {
        // A few streams on each: what a process needs once is no cost of a stream.
        Load few = Load.streams(100, new AskedAnswer(5, 10, 200)).measuredFor(1_000);
        run(proxy, few, LoadGenerator.Window.UNWATCHED);
      } else if (proxy.name().equals(Launcher.SLUICE) && warmUpMillis > 0) {
        run(proxy, step.load().warmingUpFor(warmUpMillis), LoadGenerator.Window.UNWATCHED);
      }
    }
  }

  private void rounds(Measurement measurement, List<Step> steps, List<Proxy> running)
      throws InterruptedException, ExecutionException, TimeoutException {
    for (int round = 1; round <= rounds; round++) {
      for (Step step : steps) {
        for (int i = 0; i < running.size(); i++) {
          // Another one begins each round, so that none always comes behind the same.
          sample(measurement, step, running.get((i + round - 1) % running.size()), round);
        }
      }
    }
  }

  private void sample(Measurement measurement, Step step, Proxy proxy, int round)
      throws InterruptedException, ExecutionException, TimeoutException {
    Watch watch = new Watch(proxy);
    LoadReport report = run(proxy, step.load().measuredFor(windowMillis), watch);
    Histogram late = takeUpstreamLate();
    Histogram latency = measurement.counted().latency(report);
    Map<String, Double> figures = new LinkedHashMap<>();
    long count = measurement.counted().count(report);
    figures.put(CPU, count == 0 ? Double.NaN : (double) watch.cpuMicros() / count);
    figures.put("p50 us", latency.getValueAtPercentile(50) / 1e3);
    figures.put("p99 us", latency.getValueAtPercentile(99) / 1e3);
    figures.put("p99.9 us", latency.getValueAtPercentile(99.9) / 1e3);
    figures.put("per second", count * 1e3 / windowMillis);
    figures.put(FAILED, (double) report.failed());
    addOwn(figures, watch, report, late);
    add(new Sample(measurement.name(), step.x(), proxy.name(), round, figures));
    if (step.equals(measurement.steps().get(0))) {
      latencies
          .computeIfAbsent(measurement.name(), name -> new LinkedHashMap<>())
          .merge(proxy.name(), latency, Comparison::sum);
    }
    if (report.failed() > 0) {
      progress.accept("  " + proxy.name() + ": failed: " + report.failures());
    }
  }

  private static Histogram sum(Histogram a, Histogram b) {
    a.add(b);
    return a;
  }

  /** How much of the machine the measurement itself took, and how late it was. */
  private static void addOwn(
      Map<String, Double> figures, Watch watch, LoadReport report, Histogram upstreamLate) {
    figures.put("own CPU %", watch.ownShare() * 100);
    figures.put("asked late p99 us", report.lateNanos().getValueAtPercentile(99) / 1e3);
    figures.put("event late p99 us", upstreamLate.getValueAtPercentile(99) / 1e3);
  }

  private void sampleMemory(Measurement measurement, Step step, Proxy proxy)
      throws InterruptedException, ExecutionException, TimeoutException {
    long beforeKib = proxy.usage().residentKib();
    Watch watch = new Watch(proxy);
    Load load = step.load().measuredFor(windowMillis);
    LoadGenerator generator = generator(proxy, load, watch);
    ScheduledExecutorService sampler = Executors.newSingleThreadScheduledExecutor();
    List<Sample> curve = new ArrayList<>();
    LoadReport report;
    try {
      sampler.scheduleAtFixedRate(
          () ->
              curve.add(
                  new Sample(
                      MEMORY_CURVE,
                      generator.openStreams(),
                      proxy.name(),
                      1,
                      Map.of(RESIDENT, proxy.usage().residentKib() / 1024.0))),
          0,
          250,
          TimeUnit.MILLISECONDS);
      report = await(generator, load);
    } finally {
      sampler.shutdownNow();
      sampler.awaitTermination(5, TimeUnit.SECONDS);
    }
    Histogram late = takeUpstreamLate();
    samples.addAll(curve.subList(0, curve.size() - 1)); // the last may be of after the end
    Map<String, Double> figures = new LinkedHashMap<>();
    long grownKib = watch.after.residentKib() - beforeKib;
    figures.put(PER_STREAM, (double) grownKib / Math.max(1, report.openStreams()));
    figures.put(RESIDENT, watch.after.residentKib() / 1024.0);
    figures.put("open", (double) report.openStreams());
    figures.put(FAILED, (double) report.failed());
    addOwn(figures, watch, report, late);
    add(new Sample(measurement.name(), step.x(), proxy.name(), 1, figures));
  }

  private void add(Sample sample) {
    samples.add(sample);
    progress.accept("  " + Table.line(sample));
  }

  private LoadReport run(Proxy proxy, Load load, LoadGenerator.Window window)
      throws InterruptedException, ExecutionException, TimeoutException {
    return await(generator(proxy, load, window), load);
  }

  private LoadGenerator generator(Proxy proxy, Load load, LoadGenerator.Window window)
      throws InterruptedException, ExecutionException, TimeoutException {
    takeUpstreamLate();
    return new LoadGenerator(sockets.asking(), sockets.connecting(), proxy.address(), load, window);
  }

  private static LoadReport await(LoadGenerator generator, Load load)
      throws InterruptedException, ExecutionException, TimeoutException {
    return generator
        .run()
        .get(load.warmUpMillis() + load.windowMillis() + 60_000L, TimeUnit.MILLISECONDS);
  }

  private Histogram takeUpstreamLate()
      throws InterruptedException, ExecutionException, TimeoutException {
    return sockets.answering().submit(upstream::takeLateNanos).get(10, TimeUnit.SECONDS);
  }

  /** Notes what a proxy, and this process, have used when the window begins and ends. */
  private static final class Watch implements LoadGenerator.Window {
    private final Proxy proxy;
    private Usage before = new Usage(0, 0);
    private Usage after = new Usage(0, 0);
    private long ownNanos;
    private long nanos;

    Watch(Proxy proxy) {
      this.proxy = proxy;
      proxy.usage();
    }

    @Override
    public void begins() {
      before = proxy.usage();
      ownNanos = -ownCpuNanos();
      nanos = -System.nanoTime();
    }

    @Override
    public void ends() {
      after = proxy.usage();
      ownNanos += ownCpuNanos();
      nanos += System.nanoTime();
    }

    long cpuMicros() {
      return after.cpuMicros() - before.cpuMicros();
    }

    /** The part of all cores that this process took. */
    double ownShare() {
      return (double) ownNanos / nanos / Runtime.getRuntime().availableProcessors();
    }

    private static long ownCpuNanos() {
      return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
          .getProcessCpuTime();
    }
  }
}
