package dev.sluice.compare;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A proxy that runs as a process of its own and listens on loopback. */
final class Proxy implements AutoCloseable {
  private static final int STOP_SECONDS = 10;

  private final String name;
  private final Process process;
  private final int port;
  private List<Long> processIds = List.of();

  Proxy(String name, Process process, int port) {
    this.name = name;
    this.process = process;
    this.port = port;
  }

  String name() {
    return name;
  }

  InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** What it has used so far, its children included. Once it answers: they are looked up once. */
  Usage usage() {
    if (processIds.isEmpty()) {
      processIds =
          Stream.concat(Stream.of(process.toHandle()), process.descendants())
              .map(ProcessHandle::pid)
              .toList();
    }
    return Usage.of(processIds);
  }

  /**
   * Waits a little.
   *
   * @throws IOException where the process has ended
   */
  void pause() throws IOException, InterruptedException {
    if (process.waitFor(100, TimeUnit.MILLISECONDS)) {
      throw new IOException(name + ": ended with " + process.exitValue() + " (expected: it runs)");
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
