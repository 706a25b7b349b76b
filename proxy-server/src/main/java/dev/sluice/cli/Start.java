package dev.sluice.cli;

import dev.sluice.config.SluiceConfig;
import dev.sluice.keys.KeysSnapshot;
import java.io.PrintWriter;

/** Starts the process proper, once the command line and the files are known to be good. */
interface Start {

  /**
   * Serves until the process is told to end.
   *
   * @return the exit code
   * @throws Exception when it cannot start; the message is shown, the exit code is 1
   */
  int serve(SluiceConfig config, KeysSnapshot keys) throws Exception;

  /**
   * Serves the demo until the process is told to end.
   *
   * @param port where callers connect; 0 for any that is free
   * @param adminPort where metrics and health are served; 0 for any that is free
   * @param out where the lines to copy are printed
   * @return the exit code
   * @throws Exception when it cannot start; the message is shown, the exit code is 1
   */
  int demo(int port, int adminPort, PrintWriter out) throws Exception;
}
