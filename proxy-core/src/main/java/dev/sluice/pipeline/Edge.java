package dev.sluice.pipeline;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.sluice.access.KeyCache;
import dev.sluice.access.KeyDirectory;
import dev.sluice.access.Plan;
import dev.sluice.cluster.Catalog;
import dev.sluice.exchange.ExchangeListener;
import dev.sluice.exchange.LoopContext;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.exchange.RouteTable;
import dev.sluice.exchange.Snapshot;
import dev.sluice.slots.StreamSlots;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionCounts;
import dev.sluice.upstream.ConnectionPool;
import dev.sluice.upstream.UpstreamTransport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.SocketAddress;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The proxy: accepts downstream connections and serves the contract over them. Begins by refusing
 * every request with 503; {@link #ready()} opens it, {@link #drain} closes it. Safe for all
 * threads.
 */
public final class Edge {
  /** Flow control: past the high mark of unsent bytes the upstream is not read, 16 and 32 KiB. */
  private static final WriteBufferWaterMark WATER_MARKS =
      new WriteBufferWaterMark(16 << 10, 32 << 10);

  private static final int ACCEPT_BACKLOG = 4096;
  private static final long DRAIN_POLL_MILLIS = 20;

  /** How long connections have to take their last bytes when a grace period is over. */
  private static final long LAST_WORDS_MILLIS = 500;

  private final EventLoopGroup loops;
  private final EdgeState state;
  private final MemoryBudget budget;
  private final StreamSlots slots;
  private final KeyCache keys;
  private final Admission admission;

  /** Kept for models that are gone, too: they may have connections still, and may come back. */
  private final Map<String, ConnectionCounts> connectionCounts = new ConcurrentHashMap<>();

  private final Map<EventExecutor, LoopContext> contexts = new HashMap<>();
  private final ChannelGroup connections =
      new DefaultChannelGroup("downstream", GlobalEventExecutor.INSTANCE);
  private final Queue<Channel> listening = new ConcurrentLinkedQueue<>();
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
    this.state = new EdgeState(snapshot(config));
    this.budget = new MemoryBudget(config.memoryBudgetBytes());
    this.slots = new StreamSlots(config.plans());
    this.keys = new KeyCache(directory, Ticker.systemTicker());
    this.admission = new Admission(state, budget);
    for (EventExecutor executor : loops) {
      EventLoop loop = (EventLoop) executor;
      LoopTimer timer = new LoopTimer(loop, System::nanoTime);
      timer.start();
      ConnectionPool pool = new ConnectionPool(loop, timer, transport, this::upstreamConnections);
      contexts.put(loop, new LoopContext(loop, timer, pool, budget, inspectors, listener));
    }
    this.pipeline =
        new EdgePipeline(
            state,
            new EdgePipeline.Rules(
                admission,
                new BodySize(),
                new ContentType(),
                new BearerKey(keys, state, clock),
                new Routing(),
                new ModelList(),
                new ModelAccess(),
                new StreamSlot(slots)),
            this::contextOf);
  }

  private static Snapshot snapshot(EdgeConfig config) {
    Map<String, Plan> plans = new HashMap<>();
    config.plans().forEach(plan -> plans.put(plan.name(), plan));
    return new Snapshot(
        config.limits(),
        plans,
        new Catalog(config.models()),
        new RouteTable(config.operations()),
        config.ssePing());
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
    ChannelFuture binding =
        new ServerBootstrap()
            .group(loops)
            .channel(channelType)
            .option(ChannelOption.SO_BACKLOG, ACCEPT_BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARKS)
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
    Snapshot next = snapshot(config);
    // While the keys change, a key of either version must find its plan.
    Map<String, Plan> plans = new HashMap<>(before.plans());
    plans.putAll(next.plans());
    state.snapshot(next.withPlans(plans));
    keysToo.run();
    keys.invalidateAll();
    state.snapshot(next);
    for (LoopContext context : contexts.values()) {
      context.loop().execute(() -> context.pool().retain(config.models()));
    }
  }

  /** Takes requests from now on. */
  public void ready() {
    state.phase(EdgeState.Phase.READY);
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
   * Refuses new requests with 503 and lets running exchanges finish. When all have, or the grace
   * period is over, what is left is told so and ended, and every connection is closed.
   *
   * @return completes when no connection is left, with the number of exchanges that had to be ended
   */
  public CompletableFuture<Integer> drain(long graceNanos) {
    CompletableFuture<Integer> drained = new CompletableFuture<>();
    state.phase(EdgeState.Phase.DRAINING);
    long deadlineNanos = System.nanoTime() + graceNanos;
    awaitExchanges(deadlineNanos, drained);
    return drained;
  }

  /** Looks again and again, until no exchange is left or the time is over. */
  private void awaitExchanges(long deadlineNanos, CompletableFuture<Integer> drained) {
    int open = state.openExchanges();
    if (open == 0 || System.nanoTime() - deadlineNanos >= 0) {
      end(open, drained);
    } else {
      loops
          .next()
          .schedule(
              () -> awaitExchanges(deadlineNanos, drained),
              DRAIN_POLL_MILLIS,
              TimeUnit.MILLISECONDS);
    }
  }

  /** Ends every connection; those that are busy are told why first. */
  private void end(int ended, CompletableFuture<Integer> drained) {
    listening.forEach(Channel::close);
    for (Channel channel : connections) {
      channel
          .eventLoop()
          .execute(() -> channel.pipeline().fireUserEventTriggered(EdgeState.GRACE_OVER));
    }
    loops
        .next()
        .schedule(
            () -> {
              for (LoopContext context : contexts.values()) {
                context.loop().execute(context.pool()::closeIdle);
                context.timer().stop();
              }
              connections.close().addListener(closed -> drained.complete(ended));
            },
            ended == 0 ? 0 : LAST_WORDS_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  /** The cache before the directory of keys: to be emptied when what the directory says changed. */
  public KeyCache keys() {
    return keys;
  }

  /** The stream slots of all plans. */
  public StreamSlots slots() {
    return slots;
  }

  /** The memory that bodies hold. */
  public MemoryBudget budget() {
    return budget;
  }

  /** The upstream connections of the model with this id. */
  public ConnectionCounts upstreamConnections(String modelId) {
    return connectionCounts.computeIfAbsent(modelId, id -> new ConnectionCounts());
  }

  /** How many downstream connections are open. */
  public int downstreamConnections() {
    return admission.connections();
  }

  /** How many exchanges are under way. */
  public int openExchanges() {
    return state.openExchanges();
  }
}
