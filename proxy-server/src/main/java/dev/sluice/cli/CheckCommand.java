package dev.sluice.cli;

import dev.sluice.lifecycle.ConfigFiles;
import dev.sluice.lifecycle.GoodFiles;
import dev.sluice.yaml.Reading;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sluice check}. */
@Command(
    name = "check",
    description = "Tells every fault of a configuration file and of the keys file it names.")
final class CheckCommand implements Callable<Integer> {
  private final Map<String, String> environment;
  private final Instant started;

  @Spec private CommandSpec spec;

  @Option(
      names = "--config",
      required = true,
      paramLabel = "FILE",
      description = "The configuration file, as in sluice.yaml.")
  private Path config;

  CheckCommand(Map<String, String> environment, Instant started) {
    this.environment = environment;
    this.started = started;
  }

  @Override
  public Integer call() {
    Reading<GoodFiles> read = new ConfigFiles(config, environment, started).read();
    if (!(read instanceof Reading.Good<GoodFiles> good)) {
      ((Reading.Faulty<GoodFiles>) read).faults().forEach(spec.commandLine().getErr()::println);
      return ExitCode.USAGE;
    }
    GoodFiles files = good.value();
    spec.commandLine()
        .getOut()
        .printf(
            Locale.ROOT,
            "%s: ok (plans: %d, models: %d, operations: %d, subscriptions: %d, keys: %d)%n",
            config,
            files.config().plans().size(),
            files.config().models().size(),
            files.config().operations().size(),
            files.keys().subscriptionCount(),
            files.keys().keyCount());
    return ExitCode.OK;
  }
}
