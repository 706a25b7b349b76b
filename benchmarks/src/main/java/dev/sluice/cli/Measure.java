package dev.sluice.cli;

import dev.sluice.compare.CompareCommand;
import java.util.Arrays;

/** The entrance: {@code compare} compares processes, everything else is for JMH. */
public final class Measure {
  private Measure() {}

  public static void main(String[] args) throws Exception {
    if (args.length > 0 && args[0].equals("compare")) {
      String[] rest = Arrays.copyOfRange(args, 1, args.length);
      System.exit(CompareCommand.commandLine().execute(rest));
    }
    Benchmarks.run(args);
  }
}
