package dev.sluice.lifecycle;

import dev.sluice.accesslog.AccessLog;
import dev.sluice.admin.AdminListener;
import dev.sluice.admin.Metrics;
import dev.sluice.admin.Readiness;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.config.ListenAddress;
import dev.sluice.config.Revoke;
import dev.sluice.config.SluiceConfig;
import dev.sluice.exchange.ExchangeListener;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.keys.FileKeyDirectory;
import dev.sluice.keys.KeysWatcher;
import dev.sluice.message.Operation;
import dev.sluice.page.PageListener;
import dev.sluice.pipeline.Edge;
import dev.sluice.pipeline.EdgeConfig;
import dev.sluice.pipeline.Maintenance;
import dev.sluice.status.StatusListener;
import dev.sluice.telemetry.EndpointMeters;
import dev.sluice.telemetry.ExchangeMeters;
import dev.sluice.telemetry.Meters;
import dev.sluice.telemetry.RecentFailures;
import dev.sluice.telemetry.StateMeters;
import dev.sluice.tracing.SpanExport;
import dev.sluice.transport.Transport;
import dev.sluice.transport.Waiting;
import dev.sluice.upstream.UpstreamTransport;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sluice as a process: everything that {@code serve} needs, put together, started in order and
 * ended in order. Started and ended from one thread that is no event loop.
 */
public final class RunningSluice {
  private static final Logger logger = LoggerFactory.getLogger(RunningSluice.class);

  /** What ends after the grace period: last words, closing, the access log. */
  private static final Duration AFTER_GRACE = Duration.ofSeconds(5);

  private final ConfigWatcher watcher;
  private final HangUp hangUp;
  private final long memoryBudgetBytes;
  private final Transport transport = Transport.best();
  private final EventLoopGroup loops =
      transport.loops(Runtime.getRuntime().availableProcessors(), "sluice-loop");
  private final EventLoopGroup adminLoop = transport.loops(1, "sluice-admin");
  private final ExecutorService inspectors =
      Executors.newFixedThreadPool(
          Math.max(1, Runtime.getRuntime().availableProcessors() / 2),
          new DefaultThreadFactory("sluice-inspector", true));
  private final Metrics metrics;
  private final ExchangeMeters exchangeMeters;
  private final StateMeters stateMeters;
  private final EndpointMeters endpointMeters;
  private final RecentFailures failures = new RecentFailures(System::nanoTime);
  private final ReloadLog reloads;
  private final @Nullable AccessLog accessLog;
  private final @Nullable SpanExport spans;
  private final FileKeyDirectory directory;
  private final UpstreamTransport upstream;
  private final Edge edge;
  private volatile SluiceConfig config;
  private @Nullable InetSocketAddress address;
  private @Nullable InetSocketAddress adminAddress;

  private RunningSluice(ConfigFiles files, GoodFiles started, HangUp hangUp, String version)
      throws IOException {
    this.config = started.config();
    this.hangUp = hangUp;
    this.reloads = new ReloadLog(files.file(), InstantSource.system());
    this.memoryBudgetBytes =
        config.memoryBudgetBytes().orElse(Math.max(1, PlatformDependent.maxDirectMemory() / 2));
    this.metrics = new Metrics(version, ByteBufAllocator.DEFAULT, this::readiness);
    this.exchangeMeters =
        new ExchangeMeters(
            metrics.registry(),
            List.of("list_models", "get_model"),
            modelIds(config),
            config.plans().keySet());
    exchangeMeters.know(operationNames(config), List.of(), List.of());
    this.accessLog = accessLog(config);
    this.spans = spans(config, version);
    this.directory = new FileKeyDirectory(started.keys());
    this.upstream = transport.upstream();
    this.edge =
        new Edge(
            edgeConfig(config),
            directory,
            loops,
            upstream,
            inspectors,
            listener(),
            InstantSource.system());
    this.stateMeters = new StateMeters(metrics.registry(), edge.slots(), edge::upstreamConnections);
    this.endpointMeters = new EndpointMeters(metrics.registry(), System::nanoTime);
    this.watcher =
        new ConfigWatcher(
            files,
            started,
            directory,
            InstantSource.system(),
            this::keysReloaded,
            new ConfigWatcher.Listener() {
              @Override
              public void take(SluiceConfig next, Runnable keysToo) {
                reconfigure(next, keysToo);
              }

              @Override
              public void reloaded(KeysWatcher.Reload reload) {
                reloads.add(reload);
                Meters.CONFIG_RELOAD
                    .counter(metrics.registry(), reload.result().label())
                    .increment();
              }
            });
    bindMeters();
  }

  private static @Nullable AccessLog accessLog(SluiceConfig config) throws IOException {
    return switch (config.accessLog().sink()) {
      case NONE -> null;
      case STDOUT -> AccessLog.toStandardOutput();
      case FILE -> AccessLog.toFile(Objects.requireNonNull(config.accessLog().file()));
    };
  }

  private @Nullable SpanExport spans(SluiceConfig from, String version) {
    Endpoint collector = from.tracing().collector();
    if (collector == null) {
      return null;
    }
    SpanExport export = SpanExport.to(collector.toString(), version);
    export.bindTo(metrics.registry());
    return export;
  }

  private EdgeConfig edgeConfig(SluiceConfig from) {
    return new EdgeConfig(
        from.limits(),
        List.copyOf(from.plans().values()),
        from.models(),
        from.operations(),
        from.ssePing(),
        from.tracing().sample(),
        memoryBudgetBytes);
  }

  private static List<String> modelIds(SluiceConfig from) {
    return from.models().stream().map(Model::id).toList();
  }

  private static List<String> operationNames(SluiceConfig from) {
    return from.operations().stream().map(Operation::name).toList();
  }

  private ExchangeListener listener() {
    ExchangeMeters meters = exchangeMeters;
    AccessLog log = accessLog;
    SpanExport export = spans;
    return summary -> {
      meters.ended(summary);
      failures.ended(summary);
      if (log != null) {
        log.ended(summary);
      }
      if (export != null) {
        export.ended(summary);
      }
    };
  }

  private void bindMeters() {
    MeterRegistry registry = metrics.registry();
    metrics.bindLoops(loops);
    StateMeters.bindKeyCache(registry, edge.keys().counts());
    stateMeters.follow(config.plans().values(), modelIds(config));
    endpointMeters.follow(edge.catalog());
    Meters.DOWNSTREAM_CONNECTIONS.gauge(registry, edge::downstreamConnections);
    MemoryBudget budget = edge.budget();
    Meters.MEMORY_BUDGET_HELD.gauge(registry, budget::heldBytes);
    Meters.MEMORY_BUDGET_LIMIT.gauge(registry, budget::limitBytes);
    if (accessLog != null) {
      accessLog.bindTo(registry);
    }
    for (KeysWatcher.Result result : KeysWatcher.Result.values()) {
      Meters.KEYS_RELOAD.counter(registry, result.label()); // there from the start, at 0
      Meters.CONFIG_RELOAD.counter(registry, result.label());
    }
    Meters.CONFIG_LOADED_TIMESTAMP.gauge(registry, () -> watcher.loadedAt().toEpochMilli() / 1e3);
  }

  private Readiness readiness() {
    // The gauge is registered before the edge exists.
    if (edge == null || !edge.isReady()) {
      return edge != null && edge.isDraining() ? Readiness.DRAINING : Readiness.STARTING;
    }
    return edge.maintenance().remainingSeconds(Maintenance.ALL) > 0
        ? Readiness.MAINTENANCE
        : Readiness.READY;
  }

  /**
   * Starts it, and returns when it takes requests.
   *
   * @param files where the configuration comes from; watched from now on
   * @param started what was read there
   * @param hangUp what asks to have the files read again
   * @param version the version that {@code sluice_build_info} tells
   * @throws IOException when an address cannot be bound or the access log not be opened; the
   *     message says which
   */
  public static RunningSluice start(
      ConfigFiles files, GoodFiles started, HangUp hangUp, String version) throws IOException {
    RunningSluice running = new RunningSluice(files, started, hangUp, version);
    running.begin();
    return running;
  }

  private void begin() throws IOException {
    PageListener admin =
        AdminListener.open(
            adminLoop.next(),
            transport.listening(),
            socketAddress(config.admin()),
            metrics,
            this::readiness,
            () -> watcher.json(memoryBudgetBytes),
            new EdgeOperations(
                edge,
                () -> config.shutdownGrace(),
                metrics.registry(),
                new Problems(edge, failures, watcher),
                reloads),
            () -> config.adminToken());
    adminAddress = admin.address();
    address = listen();
    logger.info("listening on http://{}", text(address));
    logger.info("admin on http://{}", text(adminAddress));
    openStatus();
    watcher.start();
    hangUp.runs(watcher::reloadSoon);
    long begunNanos = System.nanoTime();
    Warmup.run(transport, loops, upstream, inspectors);
    edge.ready();
    logger.info(
        "ready: {}, warmed in {} ms",
        transport.name(),
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos));
  }

  private void openStatus() throws IOException {
    ListenAddress wanted = config.status();
    if (wanted != null) {
      StatusListener status =
          StatusListener.open(
              transport.loops(1, "sluice-status").next(),
              transport.listening(),
              socketAddress(wanted),
              new EdgeStatus(edge, InstantSource.system()),
              InstantSource.system(),
              System::nanoTime,
              metrics.registry());
      logger.info("status page on http://{}", text(status.address()));
    }
  }

  private InetSocketAddress listen() throws IOException {
    InetSocketAddress wanted = socketAddress(config.listen());
    Channel channel = Waiting.bound(edge.bind(transport.listening(), wanted), "listen", wanted);
    return (InetSocketAddress) channel.localAddress();
  }

  /**
   * Serves another configuration from now on. Names are known to the meters before exchanges can
   * carry them.
   */
  private void reconfigure(SluiceConfig next, Runnable keysToo) {
    exchangeMeters.know(operationNames(next), modelIds(next), next.plans().keySet());
    config = next;
    edge.reload(edgeConfig(next), keysToo);
    edge.keysChanged(next.revoke() == Revoke.CUT);
    metrics.change(
        () -> {
          stateMeters.follow(next.plans().values(), modelIds(next));
          endpointMeters.follow(edge.catalog());
        });
  }

  private void keysReloaded(KeysWatcher.Reload reload) {
    reloads.add(reload);
    if (reload.result() == KeysWatcher.Result.OK) {
      edge.keysChanged(config.revoke() == Revoke.CUT);
    }
    Meters.KEYS_RELOAD.counter(metrics.registry(), reload.result().label()).increment();
  }

  /** Where callers connect. */
  public InetSocketAddress address() {
    return Objects.requireNonNull(address);
  }

  /** Where metrics and health are served. */
  public InetSocketAddress adminAddress() {
    return Objects.requireNonNull(adminAddress);
  }

  /**
   * Drains and ends: new requests are refused, running answers finish within the grace period, what
   * is left is told so. Blocks until then; the event loops are left to end with the process.
   */
  public void stop() {
    Duration grace = config.shutdownGrace();
    logger.info(
        "draining: exchanges under way {}, grace {} ms", edge.openExchanges(), grace.toMillis());
    CompletableFuture<Integer> closed = edge.close(grace.toNanos());
    try {
      Duration most = grace.plus(AFTER_GRACE);
      int ended = closed.get(most.toMillis(), TimeUnit.MILLISECONDS);
      logger.info("drained: exchanges broken off {}", ended);
    } catch (ExecutionException | TimeoutException e) {
      logger.error("draining: not done in time", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    watcher.close();
    if (accessLog != null) {
      accessLog.close();
    }
    if (spans != null) {
      spans.close();
    }
    inspectors.shutdownNow();
  }

  private static InetSocketAddress socketAddress(ListenAddress address) {
    return new InetSocketAddress(address.host(), address.port());
  }

  private static String text(InetSocketAddress address) {
    return new ListenAddress(address.getAddress().getHostAddress(), address.getPort()).toString();
  }
}
