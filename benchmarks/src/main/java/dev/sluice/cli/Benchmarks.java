package dev.sluice.cli;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Runs the benchmarks of single paths: JMH, with defaults of the project's own. */
final class Benchmarks {
  private Benchmarks() {}

  /** Takes JMH's own options; what they leave open is set here, once for all benchmarks. */
  static Options options(String... args) throws CommandLineOptionException {
    CommandLineOptions given = new CommandLineOptions(args);
    ChainedOptionsBuilder options =
        new OptionsBuilder().parent(given).timeUnit(TimeUnit.NANOSECONDS);
    if (given.getBenchModes().isEmpty()) {
      options.mode(Mode.AverageTime);
    }
    if (given.getProfilers().isEmpty()) {
      options.addProfiler(GCProfiler.class);
    }
    if (!given.getForkCount().hasValue()) {
      options.forks(1);
    }
    if (!given.getWarmupIterations().hasValue()) {
      options.warmupIterations(3);
    }
    if (!given.getWarmupTime().hasValue()) {
      options.warmupTime(TimeValue.milliseconds(500));
    }
    if (!given.getMeasurementIterations().hasValue()) {
      options.measurementIterations(5);
    }
    if (!given.getMeasurementTime().hasValue()) {
      options.measurementTime(TimeValue.milliseconds(500));
    }
    return options.build();
  }

  static void run(String... args) throws CommandLineOptionException, RunnerException {
    new Runner(options(args)).run();
  }
}
