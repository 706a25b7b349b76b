package dev.sluice.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice demo}. */
@Command(
    name = "demo",
    description = "Serves a built-in upstream with two plans and prints what to try.")
final class DemoCommand implements Callable<Integer> {
  private static final int MAX_PORT = 65_535;

  private final Start start;

  @Spec private CommandSpec spec;

  @Option(
      names = "--port",
      defaultValue = "8080",
      paramLabel = "PORT",
      description = "Where callers connect; 0 for any free port. Default: ${DEFAULT-VALUE}.")
  private int port;

  @Option(
      names = "--admin-port",
      defaultValue = "9901",
      paramLabel = "PORT",
      description =
          "Where metrics and health are served; 0 for any free port. Default: ${DEFAULT-VALUE}.")
  private int adminPort;

  DemoCommand(Start start) {
    this.start = start;
  }

  @Override
  public Integer call() throws Exception {
    requirePort(spec.commandLine(), "--port", port);
    requirePort(spec.commandLine(), "--admin-port", adminPort);
    if (port == adminPort && port != 0) {
      throw new ParameterException(
          spec.commandLine(), "--admin-port: " + adminPort + " (expected: another than --port)");
    }
    start.prepare();
    return start.demo(port, adminPort, spec.commandLine().getOut());
  }

  /** Refuses a number that is no port. */
  static void requirePort(CommandLine command, String option, int value) {
    if (value < 0 || value > MAX_PORT) {
      throw new ParameterException(command, option + ": " + value + " (expected: 0 to 65535)");
    }
  }
}
