package dev.sluice.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A {@link FaultyUpstream} in a child process, on a port that it keeps. Not safe for threads. */
public final class UpstreamProcess implements AutoCloseable {
  /**
   * Bound, and never connected: while the child is down, connections to the port are refused, and
   * the system gives the port to nobody else.
   */
  private final Socket port = new Socket();

  private Process process;
  private BufferedReader said;

  private UpstreamProcess() throws IOException {
    port.setReuseAddress(true);
    port.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    process = launch();
    said = reader(process);
  }

  /** Starts one, without waiting until it listens: {@link #awaitListening} does. */
  public static UpstreamProcess start() {
    try {
      return new UpstreamProcess();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Process launch() throws IOException {
    return new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "-cp",
                classes(),
                FaultyUpstream.class.getName(),
                Integer.toString(port())))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static String classes() {
    try {
      return Path.of(
              FaultyUpstream.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static BufferedReader reader(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
  }

  /** Waits until it listens. */
  public UpstreamProcess awaitListening() {
    expectOk(line());
    return this;
  }

  /** The port it listens on. */
  public int port() {
    return port.getLocalPort();
  }

  /** Gives it a command, and waits until that has taken effect. */
  public void command(String command) {
    expectOk(ask(command));
  }

  /** How many orders it has answered whole since it was started. */
  public long answered() {
    return Long.parseLong(ask("answered"));
  }

  private String ask(String command) {
    try {
      process.getOutputStream().write(Wire.bytes(command + "\n"));
      process.getOutputStream().flush();
      return line();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String line() {
    try {
      String line = said.readLine();
      if (line == null) {
        throw new AssertionError("upstream ended, exit code " + process.waitFor());
      }
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void expectOk(String answer) {
    if (!answer.equals("ok")) {
      throw new AssertionError("upstream said: " + answer);
    }
  }

  /** Resets all its connections and ends it. */
  public void reset() {
    command("reset");
    awaitExit();
  }

  /** Kills it: the system closes its connections. */
  public void kill() {
    process.destroyForcibly();
    awaitExit();
  }

  /** Starts it again, on the same port, and waits until it listens. */
  public void startAgain() {
    try {
      process = launch();
      said = reader(process);
      awaitListening();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stops it: its connections stay open, and are accepted still, and nothing is answered. */
  public void stop() {
    Signals.send("STOP", process.pid());
  }

  /** Lets it go on. */
  public void resume() {
    Signals.send("CONT", process.pid());
  }

  private void awaitExit() {
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    kill();
    try {
      port.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
