package dev.sluice.cli;

import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that only has commands below it: without one of them it is a fault in the usage. */
abstract class CommandGroup implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    CommandLine command = spec.commandLine();
    throw new ParameterException(
        command,
        "command: none (expected: one of "
            + String.join(", ", command.getSubcommands().keySet())
            + ")");
  }
}
