package dev.sluice.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.DeadPorts;
import dev.sluice.testing.Metrics;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.ScriptedUpstream;
import dev.sluice.testing.SluiceProcess;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What each suite starts from: one Sluice process before one upstream made for tests, with plans,
 * models and keys. After the last test of a class it holds what must be true after any traffic:
 * every slot free, no upstream connection at work, no fault logged, nothing leaked, exit code 0.
 */
final class Scene
    implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback, AutoCloseable {
  /** On plan {@code pro}: all models, 20 streams, 3 for each key. */
  static final String PRO = "sk-test-pro";

  /** Another key on plan {@code pro}. */
  static final String PRO_TOO = "sk-test-pro-too";

  /** On plan {@code free}: model {@code small}, 2 streams. */
  static final String FREE = "sk-test-free";

  /** Another key on plan {@code free}. */
  static final String FREE_TOO = "sk-test-free-too";

  /** Of a subscription that is not active. */
  static final String INACTIVE = "sk-test-inactive";

  /** Of a subscription that is not active, and revoked. */
  static final String INACTIVE_REVOKED = "sk-test-inactive-revoked";

  static final String REVOKED = "sk-test-revoked";
  static final String EXPIRED = "sk-test-expired";
  static final String UNKNOWN = "sk-test-unknown";

  /** What model {@code renamed} sends as its upstream's bearer key. */
  static final String UPSTREAM_KEY = "upstream-secret-of-tests";

  /** What {@code SLUICE_TEST_TOKEN} holds, for {@code admin-token-env}. */
  static final String ADMIN_TOKEN = "operators-secret-of-tests";

  /** The bound on a body in every scene. */
  static final int MAX_BODY_BYTES = 64 << 10;

  /** A process that has nothing to wait for ends within this; the grace period is far longer. */
  static final Duration END = Duration.ofMinutes(1);

  static final String CHAT = "/v1/chat/completions";
  static final String MESSAGES = "/v1/messages";

  final ScriptedUpstream upstream = ScriptedUpstream.start();

  private final DeadPorts dead = new DeadPorts();
  private final List<String> jvmFlags =
      new ArrayList<>(
          List.of(
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1",
              "-Dio.netty.leakDetection.level=paranoid"));
  private String headTimeout = "10s";
  private String bodyTimeout = "10s";
  private String shutdownGrace = "1h";
  private int maxConnections = 2000;
  private int maxExchanges = 2000;
  private String keys = keysFile();
  private final StringBuilder plans = new StringBuilder();
  private final StringBuilder models = new StringBuilder();
  private final StringBuilder settings = new StringBuilder();
  private Consumer<SluiceProcess> early = starting -> {};
  private @Nullable SluiceProcess process;

  /** With time bounds on a request's head and body. */
  Scene requestTimeouts(String head, String body) {
    headTimeout = head;
    bodyTimeout = body;
    return this;
  }

  /** With this grace period at shutdown. */
  Scene shutdownGrace(String grace) {
    shutdownGrace = grace;
    return this;
  }

  /** With this bound on downstream connections. */
  Scene maxConnections(int most) {
    maxConnections = most;
    return this;
  }

  /** With this bound on exchanges under way. */
  Scene maxExchanges(int most) {
    maxExchanges = most;
    return this;
  }

  /** With this keys file. */
  Scene keys(String text) {
    keys = text;
    return this;
  }

  /** With another model: one line of the configuration. */
  Scene model(String line) {
    models.append("  ").append(line).append('\n');
    return this;
  }

  /** With another plan: one line of the configuration. */
  Scene plan(String line) {
    plans.append("  ").append(line).append('\n');
    return this;
  }

  /** With another setting: one line of the configuration. */
  Scene setting(String line) {
    settings.append(line).append('\n');
    return this;
  }

  /** With another flag for the JVM of the process. */
  Scene jvmFlag(String flag) {
    jvmFlags.add(flag);
    return this;
  }

  /** With something that is done to the process before it is ready. */
  Scene whileItStarts(Consumer<SluiceProcess> done) {
    early = done;
    return this;
  }

  /** Starts the process: for a test that needs one of its own. */
  Scene start() {
    process =
        SluiceProcess.start(
            configFile(),
            keys,
            Map.of("SLUICE_TEST_UPSTREAM_KEY", UPSTREAM_KEY, "SLUICE_TEST_TOKEN", ADMIN_TOKEN),
            jvmFlags,
            early);
    return this;
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    start();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    upstream.answers();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    close();
  }

  /** Ends the process, and holds what must be true after any traffic. */
  @Override
  public void close() {
    try (SluiceProcess sluice = sluice();
        ScriptedUpstream ended = upstream;
        DeadPorts freed = dead) {
      if (sluice.isAlive()) {
        assertAtRest();
        sluice.terminate();
        assertThat(sluice.awaitExit(END)).isZero();
      }
      assertThat(sluice.stderr()).noneMatch(line -> line.contains("LEAK"));
      assertThat(sluice.stderr()).noneMatch(line -> line.contains("\tat "));
      ended.assertNoFaults();
      assertThat(freed.refusing()).isPositive();
    }
  }

  /** Holds what must be true whenever no exchange is open. */
  void assertAtRest() {
    sluice()
        .awaitMetrics(
            "every slot is free, no upstream connection at work, nothing held in memory",
            metrics ->
                metrics.has("sluice_stream_slots_in_use", "plan=\"pro\"")
                    && metrics.sum("sluice_stream_slots_in_use") == 0
                    && metrics.sum("sluice_upstream_connections", "state=\"active\"") == 0
                    && metrics.sum("sluice_upstream_connections", "state=\"connecting\"") == 0
                    && metrics.sum("sluice_memory_budget_held_bytes") == 0);
    Metrics metrics = sluice().metrics();
    assertThat(metrics.sum("sluice_requests_total", "status=\"500\""))
        .as(() -> "faults of Sluice; its log: " + String.join("\n", sluice().stderr()))
        .isZero();
  }

  /**
   * The meters once they have counted every exchange there was. An exchange is counted behind its
   * answer; a connection is gone only behind its last exchange.
   */
  Metrics metricsAtRest() {
    sluice()
        .awaitMetrics(
            "no downstream connection is left",
            metrics -> metrics.sum("sluice_downstream_connections") == 0);
    return sluice().metrics();
  }

  /** Closes the upstream's idle connections, and waits until Sluice has noticed. */
  void forgetUpstreamConnections() {
    upstream.closeConnections();
    sluice()
        .awaitMetrics(
            "no upstream connection is left",
            metrics -> metrics.sum("sluice_upstream_connections") == 0);
    upstream.answers();
  }

  SluiceProcess sluice() {
    return Objects.requireNonNull(process, "not started");
  }

  RawClient client() {
    return RawClient.connect(sluice().port());
  }

  /** One exchange on a connection of its own. */
  Answer exchange(Request request) {
    try (RawClient client = client()) {
      return client.exchange(request);
    }
  }

  /** Proves that the connection is still open: a further request is answered on it. */
  static void assertOpen(RawClient client) {
    assertThat(client.exchange(list()).status()).isEqualTo(200);
  }

  /** A good request that no upstream is needed for. */
  static Request list() {
    return Request.get("/v1/models").key(PRO);
  }

  /** A good request that is not a streaming one. */
  static Request chat(String model) {
    return Request.post(CHAT, body(model, "")).key(PRO);
  }

  /** A good streaming request. */
  static Request stream(String path, String model) {
    return Request.post(path, body(model, "\"stream\":true,")).key(PRO);
  }

  /** A good body, with further members that end in a comma. */
  static String body(String model, String members) {
    return "{\"model\":\""
        + model
        + "\","
        + members
        + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  }

  private String configFile() {
    return """
    listen: 127.0.0.1:0
    admin: 127.0.0.1:0
    access-log: stdout
    shutdown-grace: %s
    limits:
      max-body-bytes: 64KiB
      max-connections: %d
      max-exchanges: %d
      head-timeout: %s
      body-timeout: %s
    keys: keys.yaml
    plans:
      free: {streams: 2, models: [small]}
      pro: {streams: 20, streams-per-key: 3, models: ["*"]}
    %s
    models:
      small:
        upstreams: [{url: "http://127.0.0.1:%d"}]
      renamed:
        upstream-model: llama-3.1-8b
        upstreams: [{url: "http://127.0.0.1:%d/base", api-key-env: SLUICE_TEST_UPSTREAM_KEY}]
        owned-by: acme
      openai/gpt-oss-120b:
        upstreams: [{url: "http://127.0.0.1:%d"}]
      impatient:
        timeouts: {first-byte: 1s}
        upstreams: [{url: "http://127.0.0.1:%d"}]
      restless:
        timeouts: {idle: 1s}
        upstreams: [{url: "http://127.0.0.1:%d"}]
      refusing:
        upstreams: [{url: "http://127.0.0.1:%d"}]
      silent:
        timeouts: {connect: 1s}
        upstreams: [{url: "http://127.0.0.1:%d"}]
      silent-long:
        timeouts: {connect: 30s}
        upstreams: [{url: "http://127.0.0.1:%d"}]
    %s
    operations:
      /v1/embeddings: {messages: false}
    %s
    """
        .formatted(
            shutdownGrace,
            maxConnections,
            maxExchanges,
            headTimeout,
            bodyTimeout,
            plans,
            upstream.port(),
            upstream.port(),
            upstream.port(),
            upstream.port(),
            upstream.port(),
            dead.refusing(),
            dead.silent(),
            dead.silent(),
            models,
            settings);
  }

  /** The keys file that every scene starts with. */
  static String keysFile() {
    return """
    subscriptions:
      acme: {plan: pro, active: true}
      hobby: {plan: free, active: true}
      lapsed: {plan: pro, active: false}
    keys:
      - {name: pro, sha256: "%s", subscription: acme}
      - {name: pro-too, sha256: "%s", subscription: acme, expires: 2999-01-31, revoked: false}
      - {name: free, sha256: "%s", subscription: hobby}
      - {name: free-too, sha256: "%s", subscription: hobby}
      - {name: inactive, sha256: "%s", subscription: lapsed}
      - {name: inactive-revoked, sha256: "%s", subscription: lapsed, revoked: true}
      - {name: revoked, sha256: "%s", subscription: acme, revoked: true}
      - {name: expired, sha256: "%s", subscription: acme, expires: 2020-01-31}
    """
        .formatted(
            sha256(PRO),
            sha256(PRO_TOO),
            sha256(FREE),
            sha256(FREE_TOO),
            sha256(INACTIVE),
            sha256(INACTIVE_REVOKED),
            sha256(REVOKED),
            sha256(EXPIRED));
  }

  /** The hash of a key as the keys file has it. */
  static String sha256(String key) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
