package dev.sluice.cli;

import java.io.IOException;
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
  static Options options(CommandLineOptions given) {
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

  /** Runs what is asked for; of JMH's options that ask for a list, writes that alone. */
  static void run(String... args) throws CommandLineOptionException, RunnerException, IOException {
    CommandLineOptions given = new CommandLineOptions(args);
    Runner runner = new Runner(options(given));
    if (given.shouldHelp()) {
      given.showHelp();
    } else if (given.shouldList()) {
      runner.list();
    } else if (given.shouldListWithParams()) {
      runner.listWithParams(given);
    } else if (given.shouldListProfilers()) {
      given.listProfilers();
    } else if (given.shouldListResultFormats()) {
      given.listResultFormats();
    } else {
      runner.run();
    }
  }
}
