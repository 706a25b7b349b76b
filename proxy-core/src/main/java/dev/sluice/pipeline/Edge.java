package dev.sluice.pipeline;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.sluice.access.KeyCache;
import dev.sluice.access.KeyDirectory;
import dev.sluice.access.Plan;
import dev.sluice.cluster.Catalog;
import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.ExchangeListener;
import dev.sluice.exchange.LoopContext;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.exchange.OpenExchange;
import dev.sluice.exchange.RouteTable;
import dev.sluice.exchange.Snapshot;
import dev.sluice.http.HttpLimits;
import dev.sluice.slots.StreamSlots;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionCounts;
import dev.sluice.upstream.ConnectionPool;
import dev.sluice.upstream.HealthProbes;
import dev.sluice.upstream.UpstreamTransport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.SocketAddress;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The proxy: accepts downstream connections and serves the contract over them. Begins by refusing
 * every request with 503; {@link #ready()} opens it, {@link #drain} lets it run empty, {@link
 * #close} ends it. Safe for all threads.
 */
public final class Edge {
  /** Flow control: past the high mark of unsent bytes the upstream is not read, 16 and 32 KiB. */
  private static final WriteBufferWaterMark WATER_MARKS =
      new WriteBufferWaterMark(16 << 10, 32 << 10);

  private static final int ACCEPT_BACKLOG = 4096;

  /** Most reads of a connection before others have their turn: as many as Netty's default. */
  private static final int READS_PER_TURN = 16;

  private final EventLoopGroup loops;
  private final EdgeState state;
  private final MemoryBudget budget;
  private final StreamSlots slots;
  private final KeyCache keys;
  private final Rules rules;

  /** Kept for models that are gone, too: they may have connections still, and may come back. */
  private final Map<String, ConnectionCounts> connectionCounts = new ConcurrentHashMap<>();

  private final Map<EventExecutor, LoopContext> contexts = new HashMap<>();
  private final ChannelGroup connections =
      new DefaultChannelGroup("downstream", GlobalEventExecutor.INSTANCE);
  private final Queue<Channel> listening = new ConcurrentLinkedQueue<>();
  private final Drain drain;
  private final HealthProbes probes;
  private final EdgePipeline pipeline;

  /**
   * An edge that is not bound yet.
   *
   * @param loops drives all connections, downstream and upstream
   * @param inspectors runs inspections of large bodies; should have no more threads than cores
   * @param listener is told of every exchange that ended
   * @param clock what expiry of keys is measured by
   */
  public Edge(
      EdgeConfig config,
      KeyDirectory directory,
      EventLoopGroup loops,
      UpstreamTransport transport,
      Executor inspectors,
      ExchangeListener listener,
      InstantSource clock) {
    this.loops = loops;
    this.state = new EdgeState(snapshot(config, null), System::nanoTime);
    this.drain = new Drain(state, loops.next(), this::endExchanges);
    this.budget = new MemoryBudget(config.memoryBudgetBytes());
    this.slots = new StreamSlots();
    this.keys = new KeyCache(directory, Ticker.systemTicker());
    this.rules = new Rules(state, budget, keys, clock, slots);
    for (EventExecutor executor : loops) {
      EventLoop loop = (EventLoop) executor;
      LoopTimer timer = new LoopTimer(loop, System::nanoTime);
      timer.start();
      ConnectionPool pool = new ConnectionPool(loop, timer, transport, this::upstreamConnections);
      contexts.put(loop, new LoopContext(loop, timer, pool, budget, inspectors, listener));
    }
    LoopContext probing = contexts.values().iterator().next();
    this.probes = new HealthProbes(probing.loop(), probing.timer(), probing.pool());
    probes.follow(catalog());
    this.pipeline = new EdgePipeline(state, rules, this::contextOf);
  }

  private static Snapshot snapshot(EdgeConfig config, @Nullable Catalog before) {
    Map<String, Plan> plans = new HashMap<>();
    config.plans().forEach(plan -> plans.put(plan.name(), plan));
    return new Snapshot(
        config.limits(),
        plans,
        new Catalog(config.models(), before),
        new RouteTable(config.operations()),
        config.ssePing(),
        config.traceSample());
  }

  private LoopContext contextOf(Channel channel) {
    LoopContext context = contexts.get(channel.eventLoop());
    if (context == null) {
      throw new IllegalStateException("loop: unknown (expected: one of the edge's group)");
    }
    return context;
  }

  /** Listens on this address. The future's channel knows the port where it was 0. */
  public ChannelFuture bind(Class<? extends ServerChannel> channelType, SocketAddress address) {
    RecvByteBufAllocator reads =
        new AdaptiveRecvByteBufAllocator().maxMessagesPerRead(READS_PER_TURN);
    ChannelFuture binding =
        new ServerBootstrap()
            .group(loops)
            .channel(channelType)
            .option(ChannelOption.SO_BACKLOG, ACCEPT_BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARKS)
            // One for all: by default each connection has its own.
            .childOption(ChannelOption.RECVBUF_ALLOCATOR, reads)
            .childHandler(new Registering())
            .bind(address);
    listening.add(binding.channel());
    return binding;
  }

  /** Adds each connection to the group that a drain ends. */
  @Sharable
  private final class Registering extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      connections.add(channel);
      channel.pipeline().addLast(pipeline);
    }
  }

  /**
   * Serves another configuration from now on. Exchanges under way finish with what they began with;
   * the time bounds of open connections stay. The memory budget does not change. One call at a
   * time, on no event loop.
   *
   * @param keysToo replaces what the directory of keys says, where keys and plans change together
   */
  public void reload(EdgeConfig config, Runnable keysToo) {
    Snapshot before = state.snapshot();
    Snapshot next = snapshot(config, before.catalog());
    // While the keys change, a key of either version must find its plan.
    Map<String, Plan> plans = new HashMap<>(before.plans());
    plans.putAll(next.plans());
    state.snapshot(next.withPlans(plans));
    keysToo.run();
    keys.invalidateAll();
    state.snapshot(next);
    probes.follow(next.catalog());
    for (LoopContext context : contexts.values()) {
      context.loop().execute(() -> context.pool().retain(config.models()));
    }
  }

  /** Takes requests from now on, unless a drain has begun. */
  public void ready() {
    state.ready();
  }

  /** Whether requests are taken. */
  public boolean isReady() {
    return state.phase() == EdgeState.Phase.READY;
  }

  /** Whether a drain has begun. */
  public boolean isDraining() {
    return state.isDraining();
  }

  /**
   * Refuses new requests with 503 and lets running exchanges go on to a deadline. What is left then
   * is told so and ended. Callers can connect all the while, and are told to come back. A second
   * call moves the deadline; nothing ends the drain but the end of the process.
   *
   * @param graceNanos the deadline, from now
   */
  public void drain(long graceNanos) {
    drain.begin(graceNanos);
  }

  /** How long running exchanges may go on while it drains; 0 where their time is over. */
  public long drainLeftNanos() {
    return drain.leftNanos();
  }

  /**
   * Drains, where it does not yet, and ends: when nothing is left, or the deadline has come, every
   * connection is closed and nobody can connect any more.
   *
   * @param graceNanos the deadline, from now, unless a drain under way has an earlier one
   * @return completes when no connection is left, with the number of exchanges that had to be ended
   */
  public CompletableFuture<Integer> close(long graceNanos) {
    return drain.close(graceNanos).thenCompose(this::closeConnections);
  }

  private void endExchanges() {
    tellConnections(EdgeState.GRACE_OVER);
  }

  /** Has every connection told of an event, each on its own loop. */
  private void tellConnections(Object event) {
    for (Channel channel : connections) {
      channel.eventLoop().execute(() -> channel.pipeline().fireUserEventTriggered(event));
    }
  }

  private CompletableFuture<Integer> closeConnections(int ended) {
    CompletableFuture<Integer> done = new CompletableFuture<>();
    listening.forEach(Channel::close);
    probes.stop();
    for (LoopContext context : contexts.values()) {
      context.loop().execute(context.pool()::closeIdle);
      context.timer().stop();
    }
    connections.close().addListener(closed -> done.complete(ended));
    return done;
  }

  /** What an operator has taken out of service for a while. */
  public Maintenance maintenance() {
    return state.maintenance();
  }

  /**
   * What the directory of keys says has changed, and counts for every request from now on.
   *
   * @param cut whether running exchanges end, too, where their key is revoked, unknown or expired
   *     by the change, or its subscription is not active any more
   */
  public void keysChanged(boolean cut) {
    keys.invalidateAll();
    if (cut) {
      tellConnections(EdgeState.KEYS_CHANGED);
    }
  }

  /** The cache before the directory of keys. */
  public KeyCache keys() {
    return keys;
  }

  /** The stream slots of all plans. */
  public StreamSlots slots() {
    return slots;
  }

  /** The memory that bodies and relays hold. */
  public MemoryBudget budget() {
    return budget;
  }

  /** The models served now, and the load and health of their endpoints. */
  public Catalog catalog() {
    return state.snapshot().catalog();
  }

  /** The plan with this name, as it is configured now; null where there is none. */
  public @Nullable Plan plan(String name) {
    return state.snapshot().plans().get(name);
  }

  /** The upstream connections of the model with this id. */
  public ConnectionCounts upstreamConnections(String modelId) {
    return connectionCounts.computeIfAbsent(modelId, id -> new ConnectionCounts());
  }

  /** The bounds on connections and requests, as they are configured now. */
  public HttpLimits limits() {
    return state.snapshot().limits();
  }

  /** The plans that are configured now. */
  public Collection<Plan> plans() {
    return state.snapshot().plans().values();
  }

  /** How many downstream connections are open. */
  public int downstreamConnections() {
    return rules.admission().connections();
  }

  /** How many exchanges are under way. */
  public int openExchanges() {
    return state.openExchanges();
  }

  /**
   * The exchanges under way, the oldest first. Looked at on the loop of each, all connections of a
   * loop at once: for operators, not for each request.
   *
   * @param most how many at most
   */
  public CompletableFuture<List<OpenExchange>> oldestExchanges(int most) {
    Map<EventLoop, List<Channel>> byLoop = new HashMap<>();
    for (Channel channel : connections) {
      byLoop.computeIfAbsent(channel.eventLoop(), loop -> new ArrayList<>()).add(channel);
    }
    CompletableFuture<List<OpenExchange>> all = CompletableFuture.completedFuture(List.of());
    for (Map.Entry<EventLoop, List<Channel>> entry : byLoop.entrySet()) {
      List<Channel> channels = entry.getValue();
      all =
          all.thenCombine(
              CompletableFuture.supplyAsync(() -> oldest(channels, most), entry.getKey()),
              (some, others) -> Stream.concat(some.stream(), others.stream()).toList());
    }
    return all.thenApply(
        found ->
            found.stream()
                .sorted((one, other) -> older(one.startedNanos(), other.startedNanos()))
                .limit(most)
                .toList());
  }

  /** The clock overflows. */
  private static int older(long oneNanos, long otherNanos) {
    return Long.signum(oneNanos - otherNanos);
  }

  /** On the loop of all these channels. */
  private static List<OpenExchange> oldest(List<Channel> channels, int most) {
    return channels.stream()
        .map(channel -> channel.pipeline().get(EdgePipeline.CONNECTION))
        .map(handler -> handler instanceof DownstreamConnection known ? known.exchange() : null)
        .filter(Objects::nonNull)
        .sorted((one, other) -> older(one.startedNanos(), other.startedNanos()))
        .limit(most)
        .map(Exchange::asItIs)
        .toList();
  }

  /** How many of them hold a stream slot. */
  public int openStreams() {
    return slots.inUse();
  }
}
