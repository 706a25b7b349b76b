package dev.sluice.testing;

import java.io.IOException;

/** Signals that Java cannot send by itself. */
public final class Signals {
  private Signals() {}

  /** Sends a signal, by its name without {@code SIG}, to a process. */
  public static void send(String name, long pid) {
    try {
      Process kill =
          // A shell's own kill: not every system has a program of that name.
          new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid).inheritIO().start();
      if (kill.waitFor() != 0) {
        throw new AssertionError("kill -" + name + " " + pid + " failed");
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
