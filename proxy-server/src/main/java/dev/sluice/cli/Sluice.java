package dev.sluice.cli;

import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ScopeType;

/** The command line's entrance. */
@Command(
    name = "sluice",
    description = "The edge proxy that teams put in front of their language-model upstreams.",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    versionProvider = Sluice.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it went well",
      "1:a failure",
      "2:a fault in the usage or in the configuration"
    })
public final class Sluice extends CommandGroup {

  private Sluice() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] args) {
    Instant started = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    CommandLine commands = commandLine(System.getenv(), System.in, started, new Serving(version()));
    System.exit(commands.execute(args));
  }

  /** All commands; what they need of the world is given. */
  static CommandLine commandLine(
      Map<String, String> environment, InputStream in, Instant started, Start start) {
    CommandLine key =
        new CommandLine(new KeyCommands())
            .addSubcommand(new KeyNewCommand())
            .addSubcommand(new KeyHashCommand(in));
    return new CommandLine(new Sluice())
        .addSubcommand(new DemoCommand(start))
        .addSubcommand(new DemoUpstreamCommand(start))
        .addSubcommand(new ServeCommand(environment, started, start))
        .addSubcommand(new CheckCommand(environment, started))
        .addSubcommand(key)
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> {
              // What the world refuses, as a port, says so itself; of anything else the kind
              // matters.
              boolean expected = failure instanceof IOException && failure.getMessage() != null;
              command.getErr().println("sluice: " + (expected ? failure.getMessage() : failure));
              return CommandLine.ExitCode.SOFTWARE;
            });
  }

  /** The version that the jar's manifest names. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"sluice " + version()};
    }
  }

  private static String version() {
    String version = Sluice.class.getPackage().getImplementationVersion();
    return version == null ? "(not from its jar)" : version;
  }
}
