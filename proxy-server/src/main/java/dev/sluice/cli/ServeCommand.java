package dev.sluice.cli;

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
    GoodFiles files =
        GoodFiles.read(config, environment, started, spec.commandLine().getErr()::println);
    return files == null ? ExitCode.USAGE : start.serve(files.config(), files.keys());
  }
}
