package dev.sluice.cli;

import dev.sluice.lifecycle.ConfigFiles;
import dev.sluice.lifecycle.GoodFiles;
import dev.sluice.yaml.Reading;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sluice serve}. */
@Command(name = "serve", description = "Serves what a configuration file says.")
final class ServeCommand implements Callable<Integer> {
  private final Map<String, String> environment;
  private final Instant started;
  private final Start start;

  @Spec private CommandSpec spec;

  @Option(
      names = "--config",
      required = true,
      paramLabel = "FILE",
      description = "The configuration file, as in sluice.yaml.")
  private Path config;

  ServeCommand(Map<String, String> environment, Instant started, Start start) {
    this.environment = environment;
    this.started = started;
    this.start = start;
  }

  @Override
  public Integer call() throws Exception {
    start.prepare();
    ConfigFiles files = new ConfigFiles(config, environment, started);
    Reading<GoodFiles> read = files.read();
    if (read instanceof Reading.Good<GoodFiles> good) {
      return start.serve(files, good.value());
    }
    ((Reading.Faulty<GoodFiles>) read).faults().forEach(spec.commandLine().getErr()::println);
    return ExitCode.USAGE;
  }
}
