package dev.sluice.cli;

import picocli.CommandLine.Command;

/** {@code sluice key}. */
@Command(name = "key", description = "Makes and hashes keys.", synopsisSubcommandLabel = "COMMAND")
final class KeyCommands extends CommandGroup {}
