package dev.sluice.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sluice as its users run it: a child process, from the jar, with files of configuration. */
public final class SluiceProcess implements AutoCloseable {
  private static final Path JAR = Path.of(System.getProperty("sluice.jar", "target/sluice.jar"));
  private static final Duration START = Duration.ofSeconds(60);
  private static final Pattern LISTENING =
      Pattern.compile(".*\\blistening on http://127\\.0\\.0\\.1:(\\d+)\\b.*");
  private static final Pattern ADMIN =
      Pattern.compile(".*\\badmin on http://127\\.0\\.0\\.1:(\\d+)\\b.*");
  private static final Pattern STATUS =
      Pattern.compile(".*\\bstatus page on http://127\\.0\\.0\\.1:(\\d+)\\b.*");

  private final Path directory;
  private final Process process;
  private final List<Thread> collectors = new ArrayList<>();
  private final List<String> stdout = new CopyOnWriteArrayList<>();
  private final List<String> stderr = new CopyOnWriteArrayList<>();
  private final int port;
  private final int adminPort;

  private SluiceProcess(Path directory, Process process) {
    this.directory = directory;
    this.process = process;
    collect(process.getInputStream(), stdout);
    collect(process.getErrorStream(), stderr);
    this.port = announced(LISTENING);
    this.adminPort = announced(ADMIN);
  }

  /**
   * Starts it and waits until it is ready.
   *
   * @param config the text of {@code sluice.yaml}
   * @param keys the text of {@code keys.yaml}
   * @param environment further environment variables
   * @param jvmFlags further flags of its JVM
   */
  public static SluiceProcess start(
      String config, String keys, Map<String, String> environment, List<String> jvmFlags) {
    return start(config, keys, environment, jvmFlags, starting -> {});
  }

  /** The same, with something that is done to it before it is ready. */
  public static SluiceProcess start(
      String config,
      String keys,
      Map<String, String> environment,
      List<String> jvmFlags,
      Consumer<SluiceProcess> early) {
    try {
      Path directory = Files.createTempDirectory("sluice");
      Files.writeString(directory.resolve("sluice.yaml"), config);
      Files.writeString(directory.resolve("keys.yaml"), keys);
      SluiceProcess sluice = new SluiceProcess(directory, launch(directory, environment, jvmFlags));
      early.accept(sluice);
      sluice.awaitReady();
      return sluice;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Process launch(
      Path directory, Map<String, String> environment, List<String> jvmFlags) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    String transport = System.getProperty("sluice.transport");
    if (transport != null) {
      command.add("-Dsluice.transport=" + transport);
    }
    command.addAll(jvmFlags);
    command.addAll(List.of("-jar", JAR.toAbsolutePath().toString(), "serve", "--config"));
    command.add(directory.resolve("sluice.yaml").toString());
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().putAll(environment);
    return builder.start();
  }

  private void collect(InputStream from, List<String> lines) {
    Thread thread =
        new Thread(
            () -> {
              try (BufferedReader reader = new BufferedReader(new InputStreamReader(from, UTF_8))) {
                reader.lines().forEach(lines::add);
              } catch (IOException | UncheckedIOException ended) {
                // the process was killed
              }
            },
            "sluice-output");
    thread.setDaemon(true);
    thread.start();
    collectors.add(thread);
  }

  private int announced(Pattern pattern) {
    int[] found = new int[1];
    Eventually.within(
        START,
        pattern + " in the process's standard error",
        () -> {
          if (!process.isAlive() && found[0] == 0) {
            throw new IllegalStateException("process ended: " + log());
          }
          for (String line : stderr) {
            Matcher matcher = pattern.matcher(line);
            if (matcher.matches()) {
              found[0] = Integer.parseInt(matcher.group(1));
            }
          }
          return found[0] != 0;
        });
    return found[0];
  }

  private void awaitReady() {
    Eventually.within(START, "ready: " + log(), () -> admin("/readyz").status() == 200);
  }

  /** The port of the public listener. */
  public int port() {
    return port;
  }

  /** The port of the admin listener. */
  public int adminPort() {
    return adminPort;
  }

  /** The port of the status page, where it is configured. */
  public int statusPort() {
    return announced(STATUS);
  }

  /** The file of its configuration, which it watches. */
  public Path configFile() {
    return directory.resolve("sluice.yaml");
  }

  /** The file of keys that it watches. */
  public Path keysFile() {
    return directory.resolve("keys.yaml");
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Asks the admin listener for a path. */
  public Answer admin(String path) {
    return admin(Request.get(path));
  }

  /** Asks the admin listener. */
  public Answer admin(Request request) {
    try (RawClient client = RawClient.connect(adminPort)) {
      return client.exchange(request.header("Connection", "close"));
    }
  }

  /** Scrapes the metrics. */
  public Metrics metrics() {
    Answer answer = admin("/metrics");
    if (answer.status() != 200) {
      throw new AssertionError("metrics: " + answer);
    }
    return new Metrics(answer.text());
  }

  /** Waits until the metrics are as they should be. */
  public void awaitMetrics(String description, Predicate<Metrics> condition) {
    Metrics[] last = new Metrics[1];
    try {
      Eventually.that(
          description,
          () -> {
            last[0] = metrics();
            return condition.test(last[0]);
          });
    } catch (AssertionError e) {
      throw new AssertionError(description + ", but: " + last[0], e);
    }
  }

  /** What it wrote to its standard output: the access log. */
  public List<String> stdout() {
    return List.copyOf(stdout);
  }

  /** What it wrote to its standard error. */
  public List<String> stderr() {
    return List.copyOf(stderr);
  }

  private String log() {
    return String.join("\n", stderr);
  }

  /** Has the process collect its garbage: what leaked is reported with the next allocations. */
  public void collectGarbage() {
    try {
      Process jcmd =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                  Long.toString(pid()),
                  "GC.run")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (jcmd.waitFor() != 0) {
        throw new AssertionError("jcmd failed");
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The names of the classes that it has loaded so far, in one text. */
  public String loadedClasses() {
    try {
      Process jcmd =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                  Long.toString(pid()),
                  "VM.class_hierarchy")
              .redirectErrorStream(true)
              .start();
      String text = new String(jcmd.getInputStream().readAllBytes(), UTF_8);
      if (jcmd.waitFor() != 0) {
        throw new AssertionError("jcmd: " + text);
      }
      return text;
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The resident memory of the process, in bytes. */
  public long residentBytes() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid()), "status"))) {
        if (line.startsWith("VmRSS:")) {
          return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
      }
      throw new AssertionError("no VmRSS");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends SIGHUP. */
  public void hangUp() {
    try {
      if (new ProcessBuilder("kill", "-HUP", Long.toString(pid())).start().waitFor() != 0) {
        throw new AssertionError("kill failed");
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Sends SIGTERM. */
  public void terminate() {
    process.destroy();
  }

  /** Whether the process is running. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Waits for the end of the process, and gives its exit code. */
  public int awaitExit(Duration bound) {
    try {
      if (!process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("still running after " + bound + ": " + log());
      }
      for (Thread collector : collectors) {
        collector.join(bound.toMillis());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Kills it, if it still runs, and removes its files. */
  @Override
  public void close() {
    process.destroyForcibly();
    awaitExit(Duration.ofSeconds(10));
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
