package dev.sluice.lifecycle;

import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Plan;
import dev.sluice.access.Subscription;
import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Timeouts;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import dev.sluice.pipeline.Edge;
import dev.sluice.pipeline.EdgeConfig;
import dev.sluice.telemetry.AccessLogLine;
import dev.sluice.telemetry.ExchangeMeters;
import dev.sluice.transport.Transport;
import dev.sluice.transport.Waiting;
import dev.sluice.upstream.UpstreamTransport;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends requests through the pipeline before callers do: the first request of a cold JVM takes a
 * hundred times as long as the fiftieth, and a caller should not be the one who waits for it.
 */
final class Warmup {
  /*
   * An edge of its own, on the loops of the real one, with its own key, plan, model and upstream:
   * the same code runs, and no meter, log line or slot of the real one ever shows it.
   */
  private static final Logger logger = LoggerFactory.getLogger(Warmup.class);

  /** The first takes half of the time, as it loads the classes; the sixth a twentieth of that. */
  private static final int LEAST_ROUNDS = 6;

  private static final long ENOUGH_NANOS = Duration.ofMillis(200).toNanos();
  private static final long MAX_NANOS = Duration.ofSeconds(2).toNanos();
  private static final int READ_TIMEOUT_MILLIS = 2000;
  private static final String MODEL = "warm-up";

  /** Its exchanges have been answered: what is left of them takes no time. */
  private static final long LAST_BYTES_NANOS = Duration.ofSeconds(2).toNanos();

  private Warmup() {}

  /** Runs the warm-up. Blocks for some 200 ms, two seconds at most. */
  static void run(
      Transport transport, EventLoopGroup loops, UpstreamTransport upstream, Executor inspectors)
      throws IOException {
    byte[] random = new byte[24];
    ThreadLocalRandom.current().nextBytes(random);
    String key = HexFormat.of().formatHex(random);
    KeyHash hash = KeyHash.of(key.getBytes(StandardCharsets.US_ASCII));
    Key known = new Key(MODEL, new Subscription(MODEL, MODEL, true), null, false);
    Plan plan = new Plan(MODEL, 1000, Plan.UNBOUNDED, Set.of(), true);
    // What callers' exchanges are told to is of the same kind, so that it is loaded too.
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    ExchangeMeters meters = new ExchangeMeters(registry, List.of(), List.of(MODEL), List.of(MODEL));
    try (WarmupUpstream answering = WarmupUpstream.start(loops, transport.listening())) {
      Endpoint endpoint = new Endpoint("127.0.0.1", answering.port(), false, "", null);
      Model model =
          new Model(
              MODEL,
              null,
              List.of(endpoint),
              Timeouts.DEFAULT,
              Balance.LEAST_EXCHANGES,
              1,
              null,
              MODEL,
              Instant.EPOCH);
      Edge edge =
          new Edge(
              new EdgeConfig(
                  HttpLimits.DEFAULT,
                  List.of(plan),
                  List.of(model),
                  Operation.BUILT_IN,
                  Duration.ZERO,
                  0,
                  8 << 20),
              asked ->
                  CompletableFuture.completedFuture(
                      asked.equals(hash) ? Optional.of(known) : Optional.empty()),
              loops,
              upstream,
              inspectors,
              summary -> {
                meters.ended(summary);
                AccessLogLine.append(new StringBuilder(), summary);
              },
              InstantSource.system());
      edge.ready();
      InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      Channel listening =
          Waiting.bound(edge.bind(transport.listening(), address), "warm-up", address);
      try {
        send(((InetSocketAddress) listening.localAddress()).getPort(), key);
      } catch (IOException e) {
        logger.warn("warm-up: not finished, the first requests will be slower: {}", e.toString());
      } finally {
        edge.close(LAST_BYTES_NANOS);
      }
    } finally {
      registry.close();
    }
  }

  /** A request, and the status that its answer must have. */
  private record Asked(String request, String status) {}

  private static void send(int port, String key) throws IOException {
    List<Asked> all =
        List.of(
            new Asked(request("POST /v1/chat/completions", key, body(false)), "200"),
            new Asked(request("POST /v1/chat/completions", key, body(true)), "200"),
            new Asked(request("POST /v1/messages", key, body(true)), "200"),
            new Asked(request("GET /v1/models", key, ""), "200"),
            new Asked(request("POST /v1/chat/completions", "wrong", body(false)), "401"),
            new Asked(request("POST /v1/chat/completions", key, "{\"model\":1}"), "400"));
    long begunNanos = System.nanoTime();
    long takenNanos = 0;
    for (int round = 0;
        takenNanos < (round < LEAST_ROUNDS ? MAX_NANOS : ENOUGH_NANOS);
        round++, takenNanos = System.nanoTime() - begunNanos) {
      // A connection a round: accepting and closing is part of the way, and spreads over the loops.
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        socket.setSoTimeout(READ_TIMEOUT_MILLIS);
        InputStream answers = new BufferedInputStream(socket.getInputStream());
        for (Asked asked : all) {
          socket.getOutputStream().write(asked.request().getBytes(StandardCharsets.US_ASCII));
          readAnswer(answers, asked.status());
        }
      }
    }
  }

  private static String body(boolean stream) {
    return "{\"model\":\""
        + MODEL
        + "\",\"max_tokens\":8,\"stream\":"
        + stream
        + ",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}";
  }

  private static String request(String line, String key, String body) {
    return line
        + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization:"
        + " Bearer "
        + key
        + "\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  /** Reads to the end of an answer of this status, of known length or chunked. */
  private static void readAnswer(InputStream in, String status) throws IOException {
    String statusLine = readLine(in);
    if (!statusLine.startsWith("HTTP/1.1 " + status)) {
      throw new IOException("warm-up: " + statusLine + " (expected: " + status + ")");
    }
    int length = -1;
    for (String line = readLine(in); !line.isEmpty(); line = readLine(in)) {
      if (line.startsWith("content-length: ")) {
        length = Integer.parseInt(line.substring("content-length: ".length()));
      }
    }
    if (length >= 0) {
      in.skipNBytes(length);
      return;
    }
    int chunk;
    do {
      chunk = Integer.parseInt(readLine(in), 16);
      in.skipNBytes(chunk + 2L);
    } while (chunk > 0);
  }

  private static String readLine(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    int b;
    while ((b = in.read()) != '\n') {
      if (b < 0) {
        throw new IOException("warm-up: the connection ended (expected: an answer)");
      }
      if (b != '\r') {
        line.append((char) b);
      }
    }
    return line.toString();
  }
}
