package dev.sluice.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A Prometheus that scrapes processes of this machine every two seconds; {@code prometheus} is run.
 */
public final class PrometheusProcess implements AutoCloseable {
  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration ANSWER = Duration.ofSeconds(30);

  /** Bound, and never connected: the system gives the port to nobody but the process. */
  private final Socket port = new Socket();

  private final HttpClient http = HttpClient.newHttpClient();
  private final Path directory;
  private final Process process;

  private PrometheusProcess(Path rules, int... scraped) throws IOException {
    port.setReuseAddress(true);
    port.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    directory = Files.createTempDirectory("prometheus");
    Path config = Files.writeString(directory.resolve("prometheus.yaml"), config(rules, scraped));
    process =
        new ProcessBuilder(
                "prometheus",
                "--config.file=" + config,
                "--storage.tsdb.path=" + directory.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port.getLocalPort())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile())
            .start();
  }

  /**
   * Starts it, and waits until it is ready.
   *
   * @param rules a file of rules
   * @param scraped ports of this machine that it scrapes, as job {@code sluice}
   */
  public static PrometheusProcess start(Path rules, int... scraped) {
    try {
      PrometheusProcess prometheus = new PrometheusProcess(rules, scraped);
      Eventually.within(START, "Prometheus is ready", prometheus::isReady);
      return prometheus;
    } catch (IOException e) {
      throw new UncheckedIOException("prometheus: not run (expected: on the path)", e);
    }
  }

  private static String config(Path rules, int... scraped) {
    List<String> addresses = new ArrayList<>();
    for (int port : scraped) {
      addresses.add("\"127.0.0.1:" + port + "\"");
    }
    return """
    global: {scrape_interval: 2s, evaluation_interval: 2s}
    rule_files: ["%s"]
    scrape_configs:
      - job_name: sluice
        static_configs: [{targets: [%s]}]
    """
        .formatted(rules.toAbsolutePath(), String.join(", ", addresses));
  }

  private boolean isReady() throws IOException {
    if (!process.isAlive()) {
      throw new AssertionError("prometheus ended: " + Files.readString(directory.resolve("log")));
    }
    try {
      return get("/-/ready").statusCode() == 200;
    } catch (IOException notYet) {
      return false;
    }
  }

  /** The rules that it evaluates. */
  public List<Map<String, Object>> rules() {
    List<Map<String, Object>> rules = new ArrayList<>();
    for (Map<String, Object> group : Json.objects(data("/api/v1/rules"), "groups")) {
      rules.addAll(Json.objects(group, "rules"));
    }
    return rules;
  }

  /** Whether an expression has a value now that is a number. */
  public boolean hasValue(String expression) {
    String path = "/api/v1/query?query=" + URLEncoder.encode(expression, UTF_8);
    return Json.objects(data(path), "result").stream()
        .map(series -> (List<?>) series.get("value"))
        .anyMatch(value -> value != null && !String.valueOf(value.get(1)).matches("NaN|[+-]Inf"));
  }

  private Map<String, Object> data(String path) {
    try {
      HttpResponse<String> answer = get(path);
      if (answer.statusCode() != 200) {
        throw new AssertionError(path + ": " + answer.body());
      }
      return Json.object(Json.object(answer.body()), "data");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private HttpResponse<String> get(String path) throws IOException {
    URI uri = URI.create("http://127.0.0.1:" + port.getLocalPort() + path);
    try {
      return http.send(
          HttpRequest.newBuilder(uri).timeout(ANSWER).build(), BodyHandlers.ofString());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Kills it, and removes its files. */
  @Override
  public void close() {
    process.destroyForcibly();
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        throw new AssertionError("prometheus does not end");
      }
      port.close();
      try (var files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
