package dev.sluice.cli;

import dev.sluice.lifecycle.ConfigFiles;
import dev.sluice.lifecycle.GoodFiles;
import java.io.PrintWriter;

/** Starts the process proper, once the command line and the files are known to be good. */
interface Start {

  /** Called first, before the files are read: from then on a hang-up does not end the process. */
  void prepare();

  /**
   * Serves until the process is told to end.
   *
   * @param files where the configuration comes from
   * @param started what was read there
   * @return the exit code
   * @throws Exception when it cannot start; the message is shown, the exit code is 1
   */
  int serve(ConfigFiles files, GoodFiles started) throws Exception;

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

  /**
   * Serves the demo's upstream alone, on all interfaces, until the process is told to end.
   *
   * @param port where it listens; 0 for any that is free
   * @param out where its address is printed
   * @return the exit code
   * @throws Exception when it cannot start; the message is shown, the exit code is 1
   */
  int demoUpstream(int port, PrintWriter out) throws Exception;
}
