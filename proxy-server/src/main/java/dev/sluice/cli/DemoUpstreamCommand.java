package dev.sluice.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sluice demo-upstream}. */
@Command(
    name = "demo-upstream",
    description = "Serves the demo's upstream alone, on all interfaces, to try a configuration.")
final class DemoUpstreamCommand implements Callable<Integer> {
  private final Start start;

  @Spec private CommandSpec spec;

  @Option(
      names = "--port",
      defaultValue = "8000",
      paramLabel = "PORT",
      description = "Where it listens; 0 for any free port. Default: ${DEFAULT-VALUE}.")
  private int port;

  DemoUpstreamCommand(Start start) {
    this.start = start;
  }

  @Override
  public Integer call() throws Exception {
    DemoCommand.requirePort(spec.commandLine(), "--port", port);
    return start.demoUpstream(port, spec.commandLine().getOut());
  }
}
