package dev.sluice.exchange;

import dev.sluice.access.Key;
import dev.sluice.access.Plan;
import dev.sluice.access.Subscription;
import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Catalog;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Timeouts;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import dev.sluice.message.RequestFacts;
import dev.sluice.slots.StreamSlots;
import dev.sluice.testing.Answer;
import dev.sluice.testing.Bytes;
import dev.sluice.testing.FakeUpstreams;
import dev.sluice.testing.FakeUpstreams.Upstream;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionCounts;
import dev.sluice.upstream.ConnectionPool;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One exchange between a caller and an upstream that the test plays both, without sockets and with
 * a clock that stands still: everything happens when the test says so.
 */
final class ExchangeFixture implements AutoCloseable {
  static final String BODY = "{\"model\":\"small\",\"messages\":[{}]}";

  private static final Endpoint ENDPOINT = new Endpoint("10.0.0.1", 8000, false, "", null);
  private static final Model MODEL =
      new Model(
          "small",
          null,
          List.of(ENDPOINT),
          Timeouts.DEFAULT,
          Balance.LEAST_EXCHANGES,
          Model.DEFAULT_ATTEMPTS,
          null,
          "acme",
          Instant.EPOCH);
  private static final Plan PLAN = new Plan("free", 2, Plan.UNBOUNDED, Set.of("small"), false);
  private static final Key KEY =
      new Key("key", new Subscription("acme", "free", true), null, false);

  final FakeUpstreams upstreams = new FakeUpstreams();
  final ConnectionCounts connections = new ConnectionCounts();
  final StreamSlots slots = new StreamSlots(() -> this.clockNanos, () -> 0);
  final MemoryBudget budget = new MemoryBudget(1 << 30);
  final Queue<Runnable> inspections = new ArrayDeque<>();
  final List<ExchangeSummary> summaries = new ArrayList<>();
  final Caller caller;
  final Exchange exchange;
  final Cluster cluster;
  private final Snapshot snapshot;
  final LoopTimer timer;
  ExchangeListener listener = summaries::add;
  boolean inspectorsFail;
  long clockNanos;

  private final EmbeddedChannel loop = new EmbeddedChannel();
  private final LoopContext context;

  /** A streaming request of a caller who speaks HTTP/1.1. */
  static ExchangeFixture stream() {
    return of(Operation.CHAT_COMPLETIONS, true, true);
  }

  static ExchangeFixture of(Operation operation, boolean stream, boolean http11) {
    return new ExchangeFixture(operation, stream, http11, MODEL, Duration.ZERO);
  }

  /** A request for this model, whose id is {@code small}, of a caller who speaks HTTP/1.1. */
  static ExchangeFixture of(Model model, boolean stream) {
    return new ExchangeFixture(Operation.CHAT_COMPLETIONS, stream, true, model, Duration.ZERO);
  }

  /** A stream whose caller is sent a comment line after this time without a byte. */
  static ExchangeFixture pinging(Operation operation, boolean http11, Duration ssePing) {
    return new ExchangeFixture(operation, true, http11, MODEL, ssePing);
  }

  /** The same, for this model. */
  static ExchangeFixture pinging(Model model, Duration ssePing) {
    return new ExchangeFixture(Operation.CHAT_COMPLETIONS, true, true, model, ssePing);
  }

  private ExchangeFixture(
      Operation operation, boolean stream, boolean http11, Model model, Duration ssePing) {
    Catalog catalog = new Catalog(List.of(model));
    cluster = Objects.requireNonNull(catalog.find(model.id()));
    snapshot =
        new Snapshot(
            HttpLimits.DEFAULT,
            Map.of("free", PLAN),
            catalog,
            new RouteTable(Operation.BUILT_IN),
            ssePing,
            1);
    timer = new LoopTimer(loop.eventLoop(), () -> clockNanos);
    ConnectionPool pool =
        new ConnectionPool(loop.eventLoop(), timer, upstreams.transport(), id -> connections);
    Executor inspectors = this::inspectLater;
    context =
        new LoopContext(
            loop.eventLoop(), timer, pool, budget, inspectors, summary -> listener.ended(summary));
    caller = new Caller(http11);
    exchange = begin(operation, stream);
  }

  private Exchange begin(Operation operation, boolean stream) {
    DefaultHttpRequest head =
        new DefaultHttpRequest(
            caller.http11 ? HttpVersion.HTTP_1_1 : HttpVersion.HTTP_1_0,
            HttpMethod.POST,
            operation.path());
    head.headers().set("host", "sluice").set("content-type", "application/json");
    Exchange begun =
        new Exchange(
            caller,
            snapshot,
            head,
            operation.path(),
            new Route.Forwarded(operation),
            BODY.length());
    caller.current = begun;
    begun.identify(KEY, PLAN);
    begun.holdBody(1 << 20).add(Bytes.of(BODY));
    begun.learn(new RequestFacts("small", stream, 9, 16, 29, 31));
    begun.cluster(cluster);
    if (stream) {
      StreamSlots.Outcome outcome = slots.acquire(PLAN, "key");
      begun.slotsLeft(outcome.left());
      begun.hold(Objects.requireNonNull(outcome.lease()));
    }
    return begun;
  }

  /** Forwards the request; the upstream has it when this returns. */
  ExchangeFixture forward() {
    exchange.forward();
    run();
    return this;
  }

  /** Begins one more exchange of the same kind over the same pool, and forwards it. */
  Exchange forwardAnother() {
    Exchange another = begin(Operation.CHAT_COMPLETIONS, true);
    another.forward();
    run();
    return another;
  }

  Upstream upstream() {
    return upstreams.last();
  }

  /** Runs what waits for the loop. */
  void run() {
    loop.runPendingTasks();
  }

  private void inspectLater(Runnable inspection) {
    if (inspectorsFail) {
      throw new RejectedExecutionException("made to fail");
    }
    inspections.add(inspection);
  }

  void inspect() {
    Runnable inspection;
    while ((inspection = inspections.poll()) != null) {
      inspection.run();
    }
    run();
  }

  void pass(long nanos) {
    clockNanos += nanos;
    timer.tick();
    run();
  }

  /** What is known when it has ended, which it must have, once. */
  ExchangeSummary summary() {
    if (summaries.size() != 1) {
      throw new AssertionError("summaries: " + summaries + " (expected: one)");
    }
    return summaries.get(0);
  }

  @Override
  public void close() {
    upstreams.close();
    loop.finishAndReleaseAll();
    caller.take();
    caller.last.forEach(ByteBuf::release);
  }

  /** The downstream side. What is written stays unread until it is asked for. */
  final class Caller implements Downstream {
    private final boolean http11;
    private final List<ByteBuf> written = new ArrayList<>();
    private final List<ByteBuf> last = new ArrayList<>();
    private final StringBuilder taken = new StringBuilder();
    private @Nullable Exchange current;
    boolean writable = true;
    long unsentBytes;
    long answerBytes;
    boolean keepsAlive = true;
    boolean slow; // takes its last bytes when it is told to
    boolean eager; // takes bytes as soon as they are sent: buffers may be written to again
    boolean aborted;
    int flushes;
    int exchangesEnded;

    Caller(boolean http11) {
      this.http11 = http11;
    }

    private Exchange exchange() {
      return Objects.requireNonNull(current);
    }

    /** All that was written so far. */
    String take() {
      written.forEach(bytes -> taken.append(Bytes.text(bytes)));
      written.clear();
      return taken.toString();
    }

    Answer answer() {
      return Answer.read(take());
    }

    /** A slow caller takes its last bytes. */
    void deliver(boolean success) {
      written.addAll(last);
      last.clear();
      exchange().delivered(success);
    }

    @Override
    public LoopContext context() {
      return context;
    }

    @Override
    public ByteBufAllocator alloc() {
      return ByteBufAllocator.DEFAULT;
    }

    @Override
    public boolean isTooMany() {
      return false;
    }

    @Override
    public boolean readsChunks() {
      return http11;
    }

    @Override
    public boolean isWritable() {
      return writable;
    }

    @Override
    public long unsentBytes() {
      return unsentBytes;
    }

    /** Is slow: this much waits in the channel; or takes it all, where it is nothing. */
    void unsent(long bytes) {
      unsentBytes = bytes;
      writable = bytes == 0;
      exchange().writabilityChanged(writable);
    }

    @Override
    public boolean keepsAlive() {
      return keepsAlive;
    }

    @Override
    public void closeAfterAnswer() {
      keepsAlive = false;
    }

    @Override
    public void closeSoon() {
      keepsAlive = false;
    }

    @Override
    public void readBody() {
      throw new AssertionError("the body is here");
    }

    @Override
    public void write(ByteBuf bytes) {
      count(bytes);
      written.add(bytes);
    }

    private void count(ByteBuf bytes) {
      exchange().firstByte();
      answerBytes += bytes.readableBytes();
    }

    @Override
    public long answerBytes() {
      return answerBytes;
    }

    @Override
    public void flush() {
      flushes++;
      if (eager) {
        take();
      }
    }

    @Override
    public void writeLast(ByteBuf bytes) {
      count(bytes);
      if (slow) {
        last.add(bytes);
      } else {
        written.add(bytes);
        exchange().delivered(true);
      }
    }

    @Override
    public void exchangeEnded() {
      exchangesEnded++;
    }

    @Override
    public void abort() {
      aborted = true;
      exchange().downstreamClosed();
    }
  }
}
