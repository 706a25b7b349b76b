package dev.sluice.pipeline;

import com.github.benmanes.caffeine.cache.Ticker;
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
import dev.sluice.exchange.LoopContext;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.exchange.RouteTable;
import dev.sluice.exchange.Snapshot;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import dev.sluice.slots.StreamSlots;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionCounts;
import dev.sluice.upstream.ConnectionPool;
import dev.sluice.upstream.UpstreamTransport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultNameResolver;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The whole pipeline, from the bytes of a request to those of its answer and back to rest, over one
 * kept connection on each side. No sockets: what is missing is the kernel's price.
 */
@State(Scope.Thread)
public class PipelineBenchmark {
  /** Events of one stream. */
  private static final int EVENTS = 50;

  /** What a read has room for. */
  private static final int READ_BYTES = 8 << 10;

  private static final String KEY = "sk-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF";
  private static final Plan PLAN = new Plan("pro", 100, Plan.UNBOUNDED, Set.of(), true);

  private static final String DOCUMENT = "{\"choices\":[\"" + "x".repeat(500) + "\"]}";

  private final ByteBuf answer =
      bytes(
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
              + DOCUMENT.length()
              + "\r\n\r\n"
              + DOCUMENT);
  private final ByteBuf streamHead =
      bytes(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
              + "Transfer-Encoding: chunked\r\n\r\n");
  private final ByteBuf event = bytes("c8\r\ndata: " + "x".repeat(192) + "\n\n\r\n");
  private final ByteBuf streamEnd = bytes("e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");

  private final ByteBuf refused = bytes(request("sk-nobody", false));
  private final ByteBuf plain = bytes(request(KEY, false));
  private final ByteBuf stream = bytes(request(KEY, true));

  private final LongAdder exchanges = new LongAdder();
  private @Nullable Upstream upstream;
  private EmbeddedChannel channel;

  @Setup
  public void connect() {
    EdgeState state = new EdgeState(snapshot(), System::nanoTime);
    MemoryBudget budget = new MemoryBudget(1 << 30);
    StreamSlots slots = new StreamSlots();
    KeyHash hash = KeyHash.of(KEY.getBytes(StandardCharsets.US_ASCII));
    Key key = new Key("key", new Subscription("s", PLAN.name(), true), null, false);
    KeyCache keys =
        new KeyCache(
            asked ->
                CompletableFuture.completedFuture(
                    asked.equals(hash) ? Optional.of(key) : Optional.empty()),
            Ticker.systemTicker());
    state.ready();
    Rules rules = new Rules(state, budget, keys, InstantSource.system(), slots);
    channel =
        new EmbeddedChannel(new EdgePipeline(state, rules, opened -> context(opened, budget)));

    send(refused);
    expect("HTTP/1.1 401 ");
    send(plain);
    sent(upstream());
    answer(answer);
    expect("HTTP/1.1 200 ");
    stream();
    if (exchanges.sum() != 3 || slots.inUse() != 0) {
      throw new IllegalStateException("exchanges: " + exchanges + " ended (expected: 3)");
    }
  }

  private static Snapshot snapshot() {
    Model model =
        new Model(
            "small",
            null,
            List.of(new Endpoint("10.0.0.1", 8000, false, "", null)),
            Timeouts.DEFAULT,
            Balance.LEAST_EXCHANGES,
            Model.DEFAULT_ATTEMPTS,
            null,
            "acme",
            Instant.EPOCH);
    return new Snapshot(
        HttpLimits.DEFAULT,
        Map.of(PLAN.name(), PLAN),
        new Catalog(List.of(model)),
        new RouteTable(Operation.BUILT_IN),
        Duration.ZERO,
        0);
  }

  private LoopContext context(Channel opened, MemoryBudget budget) {
    LoopTimer timer = new LoopTimer(opened.eventLoop(), System::nanoTime);
    ConnectionCounts counts = new ConnectionCounts();
    UpstreamTransport transport =
        new UpstreamTransport(
            this::openUpstream,
            new Literals(),
            () -> {
              throw new IllegalStateException("tls: asked for (expected: none)");
            });
    ConnectionPool pool = new ConnectionPool(opened.eventLoop(), timer, transport, model -> counts);
    return new LoopContext(
        opened.eventLoop(), timer, pool, budget, Runnable::run, ended -> exchanges.increment());
  }

  private Upstream openUpstream() {
    if (upstream != null) {
      throw new IllegalStateException("upstream: a second connection (expected: it is kept)");
    }
    upstream = new Upstream();
    return upstream;
  }

  @TearDown
  public void close() {
    channel.finishAndReleaseAll();
    upstream().finishAndReleaseAll();
    List.of(refused, plain, stream, answer, streamHead, event, streamEnd).forEach(ByteBuf::release);
  }

  /** A request whose key nobody has: the error answer. */
  @Benchmark
  public int refused() {
    send(refused);
    return sent(channel);
  }

  /** 2 KB of request, half a KB of answer. */
  @Benchmark
  public int plain() {
    send(plain);
    sent(upstream());
    answer(answer);
    return sent(channel);
  }

  /** 2 KB of request, 50 events of 200 bytes, each in a read of its own, and the last one. */
  @Benchmark
  public int stream() {
    send(stream);
    sent(upstream());
    answer(streamHead);
    int sent = 0;
    for (int i = 0; i < EVENTS; i++) {
      answer(event);
      sent += sent(channel);
    }
    answer(streamEnd);
    return sent + sent(channel);
  }

  private void send(ByteBuf request) {
    channel.writeInbound(read(request));
    channel.runPendingTasks();
  }

  private void answer(ByteBuf answer) {
    upstream().writeInbound(read(answer));
    channel.runPendingTasks();
  }

  /** As a socket gives it: a buffer of its own, with room left. */
  private ByteBuf read(ByteBuf bytes) {
    return channel.alloc().directBuffer(READ_BYTES).writeBytes(bytes, 0, bytes.readableBytes());
  }

  private Upstream upstream() {
    if (upstream == null) {
      throw new IllegalStateException("upstream: none (expected: a connection)");
    }
    return upstream;
  }

  /** How many bytes were sent, which are let go of; at least one. */
  private static int sent(EmbeddedChannel by) {
    int sent = 0;
    ByteBuf bytes;
    while ((bytes = by.readOutbound()) != null) {
      sent += bytes.readableBytes();
      bytes.release();
    }
    if (sent == 0) {
      throw new IllegalStateException("sent: nothing (expected: bytes)");
    }
    return sent;
  }

  private void expect(String start) {
    ByteBuf first = channel.readOutbound();
    String head = first.toString(StandardCharsets.US_ASCII);
    first.release();
    channel.releaseOutbound();
    if (!head.startsWith(start)) {
      throw new IllegalStateException("answer: " + head + " (expected: " + start + ")");
    }
  }

  private static String request(String key, boolean stream) {
    StringBuilder body = new StringBuilder("{\"model\":\"small\",\"stream\":" + stream);
    body.append(",\"messages\":[{\"role\":\"user\",\"content\":\"");
    body.append("a".repeat(2_000 - body.length() - 4)).append("\"}]}");
    return "POST /v1/chat/completions HTTP/1.1\r\nHost: sluice\r\nUser-Agent: OpenAI/Java 4.100.0\r\n"
        + ("Authorization: Bearer " + key + "\r\nAccept: application/json\r\n")
        + ("Content-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n")
        + body;
  }

  private static ByteBuf bytes(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    return ByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
  }

  /** The loop of an embedded channel never ends, so what is made for it is not kept. */
  private static final class Literals extends AddressResolverGroup<InetSocketAddress> {
    @Override
    public AddressResolver<InetSocketAddress> getResolver(EventExecutor executor) {
      return newResolver(executor);
    }

    @Override
    protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
      return new DefaultNameResolver(executor).asAddressResolver();
    }
  }

  /** The connection to the upstream. */
  private static final class Upstream extends EmbeddedChannel {
    private @Nullable ChannelConfig config;

    Upstream() {
      super(DefaultChannelId.newInstance(), false, false);
    }

    @Override
    public ChannelConfig config() {
      if (config == null) {
        config =
            new DefaultChannelConfig(this) {
              @Override
              public <T> boolean setOption(ChannelOption<T> option, T value) {
                return option.equals(ChannelOption.TCP_NODELAY)
                    || option.equals(ChannelOption.SO_KEEPALIVE)
                    || super.setOption(option, value);
              }
            };
      }
      return config;
    }
  }
}
