package dev.sluice.pipeline;

import dev.sluice.access.Key;
import dev.sluice.access.KeyCache;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Plan;
import dev.sluice.access.Subscription;
import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Catalog;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Timeouts;
import dev.sluice.exchange.ExchangeListener;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.exchange.LoopContext;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.exchange.RouteTable;
import dev.sluice.exchange.Snapshot;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import dev.sluice.slots.StreamSlots;
import dev.sluice.testing.Answer;
import dev.sluice.testing.Bytes;
import dev.sluice.testing.FakeUpstreams;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionCounts;
import dev.sluice.upstream.ConnectionPool;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The whole pipeline of one downstream connection, without sockets, with a clock of the test's. */
final class PipelineFixture implements AutoCloseable {
  static final String BODY =
      "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}";
  static final String STREAM_BODY = BODY.replaceFirst("\\{", "{\"stream\":true,");
  static final int MAX_BODY_BYTES = 100_000;
  static final int MAX_CONNECTIONS = 3;
  static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");

  static final HttpLimits LIMITS =
      new HttpLimits(
          1000,
          2000,
          20,
          MAX_BODY_BYTES,
          MAX_CONNECTIONS,
          1000,
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          Duration.ofSeconds(75));

  static final List<Plan> PLANS =
      List.of(
          new Plan("free", 2, 1, Set.of("small"), false),
          new Plan("pro", 2, Plan.UNBOUNDED, Set.of(), true));

  final FakeUpstreams upstreams = new FakeUpstreams();
  final List<ExchangeSummary> summaries = new ArrayList<>();
  long clockNanos;
  Instant now = NOW;
  final EdgeState state = new EdgeState(snapshot(LIMITS, PLANS, "small", "big"), () -> clockNanos);
  final MemoryBudget budget = new MemoryBudget(MAX_BODY_BYTES * 2);
  final Map<KeyHash, Key> keys = new HashMap<>();
  final StreamSlots slots = new StreamSlots(() -> this.clockNanos, () -> 0);
  final Rules rules;
  final DuplexEmbeddedChannel channel;
  Function<KeyHash, CompletionStage<Optional<Key>>> directory =
      hash -> CompletableFuture.completedFuture(Optional.ofNullable(keys.get(hash)));
  ExchangeListener listener = summaries::add;

  final KeyCache keyCache = new KeyCache(hash -> directory.apply(hash), () -> clockNanos);

  private final Map<Channel, LoopContext> contexts = new HashMap<>();
  private final EdgePipeline pipeline;
  private final ConnectionCounts connections = new ConnectionCounts();

  PipelineFixture() {
    this(true);
  }

  private PipelineFixture(boolean ready) {
    key("sk-good", "free", true);
    if (ready) {
      state.ready();
    }
    rules = new Rules(state, budget, keyCache, () -> now, slots);
    pipeline =
        new EdgePipeline(state, rules, opened -> contexts.computeIfAbsent(opened, this::context));
    channel = connect();
  }

  /** One that takes no requests yet. */
  static PipelineFixture starting() {
    return new PipelineFixture(false);
  }

  /** What is configured where there are these limits, plans and models. */
  static Snapshot snapshot(HttpLimits limits, List<Plan> plans, String... models) {
    return new Snapshot(
        limits,
        plans.stream().collect(Collectors.toMap(Plan::name, plan -> plan)),
        new Catalog(Arrays.stream(models).map(PipelineFixture::model).toList()),
        new RouteTable(Operation.BUILT_IN),
        Duration.ZERO,
        0);
  }

  static Model model(String id) {
    Endpoint endpoint = new Endpoint("10.0.0.1", 8000, false, "", null);
    return new Model(
        id,
        null,
        List.of(endpoint),
        Timeouts.DEFAULT,
        Balance.LEAST_EXCHANGES,
        Model.DEFAULT_ATTEMPTS,
        null,
        "acme",
        NOW);
  }

  private LoopContext context(Channel opened) {
    LoopTimer timer = new LoopTimer(opened.eventLoop(), () -> clockNanos);
    ConnectionPool pool =
        new ConnectionPool(opened.eventLoop(), timer, upstreams.transport(), model -> connections);
    return new LoopContext(
        opened.eventLoop(), timer, pool, budget, Runnable::run, ended -> listener.ended(ended));
  }

  /** Makes a key of this plan known. */
  void key(String text, String plan, boolean active) {
    key(
        text,
        new Key(text.replace("sk-", "key-"), new Subscription("s", plan, active), null, false));
  }

  void key(String text, Key key) {
    keys.put(KeyHash.of(text.getBytes(StandardCharsets.US_ASCII)), key);
  }

  /** Makes a key unknown. */
  void forget(String text) {
    keys.remove(KeyHash.of(text.getBytes(StandardCharsets.US_ASCII)));
  }

  /** What the directory says has changed, and every connection is told. */
  void keysChanged() {
    keyCache.invalidateAll();
    for (Channel opened : List.copyOf(contexts.keySet())) {
      opened.pipeline().fireUserEventTriggered(EdgeState.KEYS_CHANGED);
    }
  }

  /** Opens one more connection. */
  DuplexEmbeddedChannel connect() {
    return new DuplexEmbeddedChannel(pipeline);
  }

  /** A request with a good key and a JSON body. */
  static String post(String path, String body, String... lines) {
    return request("POST " + path, body, "Authorization: Bearer sk-good", lines);
  }

  static String get(String path, String... lines) {
    return request("GET " + path, "", "Authorization: Bearer sk-good", lines);
  }

  private static String request(String start, String body, String authorization, String... lines) {
    StringBuilder request = new StringBuilder(start).append(" HTTP/1.1\r\nHost: h\r\n");
    request.append(authorization).append("\r\n");
    if (!body.isEmpty()) {
      request.append("Content-Type: application/json\r\n");
      request.append("Content-Length: ").append(body.length()).append("\r\n");
    }
    for (String line : lines) {
      request.append(line).append("\r\n");
    }
    return request.append("\r\n").append(body).toString();
  }

  /** The caller sends these bytes, in one read. */
  PipelineFixture send(String bytes) {
    channel.writeInbound(Bytes.of(bytes));
    return this;
  }

  /** What the caller received since the last time. */
  String received() {
    return received(channel);
  }

  static String received(DuplexEmbeddedChannel channel) {
    channel.runPendingTasks();
    StringBuilder received = new StringBuilder();
    ByteBuf bytes;
    while ((bytes = channel.readOutbound()) != null) {
      received.append(Bytes.text(bytes));
    }
    return received.toString();
  }

  Answer answer() {
    return Answer.read(received());
  }

  void pass(Duration time) {
    clockNanos += time.toNanos();
    contexts.forEach((opened, context) -> context.timer().tick());
    channel.runPendingTasks();
  }

  /** The event loops' turns end: what was written is sent. */
  private void endTurns() {
    contexts.keySet().forEach(opened -> ((DuplexEmbeddedChannel) opened).runPendingTasks());
  }

  /** The one exchange that has ended. */
  ExchangeSummary summary() {
    endTurns();
    if (summaries.size() != 1) {
      throw new AssertionError("summaries: " + summaries + " (expected: one)");
    }
    return summaries.get(0);
  }

  @Override
  public void close() {
    contexts.keySet().forEach(opened -> ((DuplexEmbeddedChannel) opened).finishAndReleaseAll());
    upstreams.close();
    if (state.openExchanges() != 0) {
      throw new AssertionError("open exchanges: " + state.openExchanges() + " (expected: 0)");
    }
    if (budget.heldBytes() != 0 || slots.inUse("free") + slots.inUse("pro") != 0) {
      throw new AssertionError("held: " + budget.heldBytes() + " bytes, or a slot");
    }
  }
}
