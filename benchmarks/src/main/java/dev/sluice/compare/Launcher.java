package dev.sluice.compare;

import dev.sluice.load.Load;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Starts proxies in front of one upstream, all with the same duties: they look the key up, bound
 * what runs for it, keep connections to the upstream, and pass on every byte as it comes.
 */
final class Launcher {
  static final String SLUICE = "sluice";
  static final String NGINX = "nginx";
  static final String HAPROXY = "haproxy";

  /** All that can be started. */
  static final List<String> PROXIES = List.of(SLUICE, NGINX, HAPROXY);

  /** More than any measurement opens, so that no bound is met. */
  private static final int MAX_CONNECTIONS = 20_000;

  /** HAProxy refuses to start where two descriptors for each would pass the usual limit. */
  private static final int HAPROXY_CONNECTIONS = 9_500;

  private static final Duration READY_WITHIN = Duration.ofSeconds(60);

  private final Path scratch;
  private final int upstreamPort;
  private final Path jar;
  private final List<String> javaOptions;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /**
   * A launcher.
   *
   * @param scratch a directory for configurations and logs
   * @param jar Sluice
   * @param javaOptions options for the JVM before {@code -jar}
   */
  Launcher(Path scratch, int upstreamPort, Path jar, List<String> javaOptions) {
    this.scratch = scratch;
    this.upstreamPort = upstreamPort;
    this.jar = jar;
    this.javaOptions = javaOptions;
  }

  /**
   * Starts a proxy; returns when it answers.
   *
   * @throws IOException where it is not there, ends, or does not answer in time
   */
  Proxy start(String name, Setting setting) throws IOException, InterruptedException {
    int port = freePort();
    List<String> command =
        switch (name) {
          case SLUICE -> sluice(port, setting);
          case NGINX -> nginx(port, setting);
          case HAPROXY -> haproxy(port, setting);
          default -> throw new IllegalArgumentException("proxy: " + name + " (expected: a name)");
        };
    Path log = scratch.resolve(name + ".log");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    Proxy proxy = new Proxy(name, process, port);
    boolean ready = false;
    try {
      awaitAnswer(proxy, port);
      ready = true;
      return proxy;
    } catch (IOException e) {
      throw new IOException(name + ": not ready (expected: an answer; its log is " + log + ")", e);
    } finally {
      if (!ready) {
        proxy.close();
      }
    }
  }

  private void awaitAnswer(Proxy proxy, int port) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/chat/completions"))
            .header("Authorization", "Bearer " + Load.key(0))
            .header("Content-Type", "application/json")
            .POST(
                BodyPublishers.ofString(
                    "{\"model\":\"bench\",\"messages\":[{\"role\":\"user\","
                        + "\"content\":\"\"}]}"))
            .timeout(Duration.ofSeconds(5))
            .build();
    long deadline = System.nanoTime() + READY_WITHIN.toNanos();
    while (true) {
      proxy.pause();
      try {
        int status = client.send(request, BodyHandlers.discarding()).statusCode();
        if (status == 200) {
          return;
        }
        throw new IOException("status: " + status + " (expected: 200)");
      } catch (IOException e) {
        if (System.nanoTime() > deadline) {
          throw e;
        }
      }
    }
  }

  private List<String> nginx(int port, Setting setting) throws IOException {
    Path directory = Files.createDirectories(scratch.resolve(NGINX));
    Path file =
        Files.writeString(
            directory.resolve("nginx.conf"),
            String.format(
                Locale.ROOT,
                """
                daemon off;
                worker_processes %1$d;
                pid %3$s/pid;
                error_log %3$s/error.log;
                events { worker_connections %2$d; }
                http {
                  access_log off;
                  keepalive_requests 1000000000;
                  client_max_body_size 32m;
                  client_body_temp_path %3$s/body;
                  proxy_temp_path %3$s/proxy;
                  fastcgi_temp_path %3$s/fastcgi;
                  uwsgi_temp_path %3$s/uwsgi;
                  scgi_temp_path %3$s/scgi;
                  map $http_authorization $caller { default ""; "Bearer %4$s" bench; }
                  limit_conn_zone $caller zone=callers:1m;
                  limit_conn_status 429;
                  upstream model {
                    server 127.0.0.1:%5$d;
                    keepalive 4096;
                    keepalive_requests 1000000000;
                  }
                  server {
                    listen 127.0.0.1:%6$d backlog=4096;
                    location / {
                      if ($caller = "") { return 401; }
                      limit_conn callers 60000;
                      proxy_pass http://model;
                      proxy_http_version 1.1;
                      proxy_set_header Connection "";
                      proxy_request_buffering off;
                      proxy_buffering off;
                      proxy_read_timeout 600s;
                    }
                  }
                }
                """,
                setting.loops(),
                MAX_CONNECTIONS,
                directory,
                Load.key(0),
                upstreamPort,
                port));
    return List.of(find(NGINX), "-e", directory + "/error.log", "-c", file.toString());
  }

  private List<String> haproxy(int port, Setting setting) throws IOException {
    Path file =
        Files.writeString(
            scratch.resolve("haproxy.cfg"),
            String.format(
                Locale.ROOT,
                """
                global
                  nbthread %1$d
                  maxconn %2$d
                defaults
                  mode http
                  option http-no-delay
                  timeout connect 5s
                  timeout client 600s
                  timeout server 600s
                frontend callers
                  bind 127.0.0.1:%3$d
                  http-request deny deny_status 401 unless { req.hdr(authorization) -m str "Bearer %4$s" }
                  stick-table type string len 64 size 1k expire 1m store conn_cur
                  http-request track-sc0 req.hdr(authorization)
                  http-request deny deny_status 429 if { sc0_conn_cur gt 60000 }
                  default_backend model
                backend model
                  http-reuse always
                  server upstream 127.0.0.1:%5$d pool-max-conn -1
                """,
                setting.loops(),
                HAPROXY_CONNECTIONS,
                port,
                Load.key(0),
                upstreamPort));
    return List.of(find(HAPROXY), "-db", "-f", file.toString());
  }

  private List<String> sluice(int port, Setting setting) throws IOException {
    if (!Files.exists(jar)) {
      throw new IOException(jar + ": missing (expected: built by mvn -q -DskipTests package)");
    }
    StringBuilder plans = new StringBuilder();
    StringBuilder keys = new StringBuilder("subscriptions:\n");
    for (int i = 0; i < setting.plans(); i++) {
      plans.append("  p").append(i).append(": {streams: 60000, models: [\"*\"]}\n");
      keys.append("  s").append(i).append(": {plan: p").append(i).append(", active: true}\n");
    }
    keys.append("keys:\n");
    for (int i = 0; i < setting.keys(); i++) {
      keys.append("  - {name: k").append(i).append(", sha256: \"").append(sha256(Load.key(i)));
      keys.append("\", subscription: s").append(i % setting.plans()).append("}\n");
    }
    Files.writeString(scratch.resolve("keys.yaml"), keys);
    Path file =
        Files.writeString(
            scratch.resolve("sluice.yaml"),
            String.format(
                Locale.ROOT,
                """
                listen: 127.0.0.1:%d
                admin: 127.0.0.1:%d
                access-log: none
                limits: {max-connections: %d, max-exchanges: %d}
                keys: keys.yaml
                plans:
                %smodels:
                  bench: {upstreams: [{url: "http://127.0.0.1:%d"}]}
                """,
                port,
                freePort(),
                MAX_CONNECTIONS,
                MAX_CONNECTIONS,
                plans,
                upstreamPort));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(javaOptions);
    command.add("-XX:ActiveProcessorCount=" + setting.loops());
    command.addAll(List.of("-jar", jar.toString(), "serve", "--config", file.toString()));
    return command;
  }

  private static String sha256(String key) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /**
   * Where a program is, on the path or where packages put programs that only root is thought to
   * need.
   */
  static String find(String program) throws IOException {
    return Stream.concat(
            Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1)),
            Stream.of("/usr/sbin", "/usr/local/sbin"))
        .map(directory -> Path.of(directory, program))
        .filter(Files::isExecutable)
        .findFirst()
        .map(Path::toString)
        .orElseThrow(
            () ->
                new IOException(
                    program
                        + ": neither on the path nor in /usr/sbin (expected: installed, on Debian"
                        + " and Ubuntu by apt-get install nginx haproxy)"));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
