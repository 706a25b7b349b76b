package dev.sluice.load;

import dev.sluice.load.LoadReport.Failure;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;

/**
 * Puts one load on one proxy, from one event loop. All but {@link #run} and {@link #openStreams()}
 * is of that loop.
 */
public final class LoadGenerator {
  /*
   * Open loop: the times of requests are fixed before the first is sent. One that cannot be sent at
   * its time, because the generator is late or all connections are in use, is sent as soon as may
   * be, and its latency still counts from its time. So a proxy that stalls is charged with what
   * waited meanwhile, not with one slow request on each connection (coordinated omission).
   *
   * Times are whole milliseconds: a timer for each request would cost this process more than the
   * request does.
   */
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Latencies of more than this are counted as this. */
  private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(2);

  /** How long answers may take beyond the window, or a stream's own length. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int READ_BYTES = 32 << 10;

  private final EventLoop loop;
  private final Bootstrap bootstrap;
  private final Load load;
  private final Window window;
  private final ByteBuf request;
  private final int keyAt;
  private final CompletableFuture<LoadReport> done = new CompletableFuture<>();

  private final ArrayDeque<Call> idle = new ArrayDeque<>();
  private final ArrayDeque<Long> waiting = new ArrayDeque<>();
  private final List<Call> open = new ArrayList<>();
  private final Map<Failure, Long> failures = new EnumMap<>(Failure.class);
  private final Histogram answerNanos = histogram();
  private final Histogram firstByteNanos = histogram();
  private final Histogram relayNanos = histogram();
  private final Histogram lateNanos = histogram();
  private long fromNanos;
  private long windowNanos;
  private long endNanos;
  private long sent;
  private long underWay;
  private long asked;
  private long answered;
  private long events;
  private boolean inWindow;
  private boolean over;
  private int streamsAtEnd;
  private final AtomicInteger openStreams = new AtomicInteger();

  /** Told on the generator's loop when the window begins and ends. */
  public interface Window {
    /** Nobody is told. */
    Window UNWATCHED =
        new Window() {
          @Override
          public void begins() {}

          @Override
          public void ends() {}
        };

    void begins();

    void ends();
  }

  /**
   * A generator for one run.
   *
   * @param channels makes channels that the loop can drive
   */
  public LoadGenerator(
      EventLoop loop,
      ChannelFactory<? extends Channel> channels,
      SocketAddress proxy,
      Load load,
      Window window) {
    this.loop = loop;
    this.load = load;
    this.window = window;
    this.request = load.request();
    this.keyAt = Load.keyAt(request);
    this.bootstrap =
        new Bootstrap()
            .group(loop)
            .channelFactory(channels)
            .remoteAddress(proxy)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_BYTES));
  }

  static Histogram histogram() {
    return new Histogram(MAX_NANOS, 3);
  }

  static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.max(0, Math.min(MAX_NANOS, nanos)));
  }

  /** Begins, once. Completes when all answers have come, or their time is over. */
  public CompletableFuture<LoadReport> run() {
    loop.execute(this::begin);
    return done;
  }

  /** How many answers are under way. Any thread. */
  public int openStreams() {
    return openStreams.get();
  }

  private void begin() {
    fromNanos = System.nanoTime();
    windowNanos = fromNanos + TimeUnit.MILLISECONDS.toNanos(load.warmUpMillis());
    endNanos = windowNanos + TimeUnit.MILLISECONDS.toNanos(load.windowMillis());
    loop.schedule(this::windowBegins, windowNanos - fromNanos, TimeUnit.NANOSECONDS);
    loop.schedule(this::windowEnds, endNanos - fromNanos, TimeUnit.NANOSECONDS);
    pace();
  }

  private void windowBegins() {
    inWindow = true;
    window.begins();
  }

  private void windowEnds() {
    window.ends();
    inWindow = false;
    streamsAtEnd = openStreams.get();
    long streamMillis = (long) load.answer().events() * load.answer().intervalMillis();
    long patience = load.hold() ? 0 : PATIENCE_NANOS + TimeUnit.MILLISECONDS.toNanos(streamMillis);
    loop.schedule(this::finish, patience, TimeUnit.NANOSECONDS);
    finishIfIdle();
  }

  /** Asks what is due, and comes back when the next is. */
  private void pace() {
    long now = System.nanoTime();
    while (dueNanos(sent) <= now && hasNext()) {
      ask(dueNanos(sent++));
    }
    if (hasNext()) {
      loop.schedule(this::pace, dueNanos(sent) - System.nanoTime(), TimeUnit.NANOSECONDS);
    }
  }

  private long dueNanos(long number) {
    long exactNanos = (long) (number * 1e9 / load.perSecond());
    return fromNanos + exactNanos / TICK_NANOS * TICK_NANOS;
  }

  private boolean hasNext() {
    return load.hold() ? sent < load.connections() && !over : dueNanos(sent) < endNanos;
  }

  private void ask(long dueNanos) {
    underWay++;
    if (isMeasured(dueNanos)) {
      asked++;
      record(lateNanos, System.nanoTime() - dueNanos);
    }
    Call call = idle.pollLast();
    if (call != null) {
      call.send(dueNanos);
    } else if (open.size() < load.connections()) {
      connect(dueNanos);
    } else {
      waiting.add(dueNanos);
    }
  }

  private void connect(long dueNanos) {
    Call call = new Call(this, load.answer(), dueNanos);
    open.add(call);
    bootstrap
        .clone()
        .handler(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.pipeline().addLast(call);
              }
            })
        .connect()
        .addListener(
            connected -> {
              if (!connected.isSuccess()) {
                open.remove(call);
                failed(dueNanos, Failure.CONNECT);
              }
            });
  }

  /** The bytes of the next request; the taker releases them. */
  ByteBuf nextRequest() {
    return load.keys() == 1
        ? request.retainedDuplicate()
        : Load.signed(request, keyAt, (int) (sent % load.keys()));
  }

  void began() {
    openStreams.incrementAndGet();
  }

  void firstByte(long dueNanos, long nanos) {
    if (isMeasured(dueNanos)) {
      record(firstByteNanos, nanos - dueNanos);
    }
  }

  void event(long ageNanos, long nanos) {
    if (inWindow) {
      events++;
    }
    if (isMeasured(nanos - ageNanos)) {
      record(relayNanos, ageNanos);
    }
  }

  /** An answer has come whole, and its connection can take the next request. */
  void answered(Call call, long dueNanos) {
    openStreams.decrementAndGet();
    if (inWindow) {
      answered++;
    }
    if (isMeasured(dueNanos)) {
      record(answerNanos, System.nanoTime() - dueNanos);
    }
    ended();
    Long next = waiting.poll();
    if (next != null) {
      call.send(next);
    } else {
      idle.add(call);
    }
  }

  /** An answer has failed, and its connection is of no more use. */
  void broken(Call call, long dueNanos, Failure failure) {
    openStreams.decrementAndGet();
    closed(call);
    failed(dueNanos, failure);
  }

  /** A connection without an answer under way is gone. */
  void closed(Call call) {
    open.remove(call);
    idle.remove(call);
  }

  private void failed(long dueNanos, Failure failure) {
    if (isMeasured(dueNanos)) {
      failures.merge(failure, 1L, Long::sum);
    }
    ended();
    Long next = waiting.poll();
    if (next != null) {
      connect(next);
    }
  }

  private void ended() {
    underWay--;
    finishIfIdle();
  }

  private boolean isMeasured(long dueNanos) {
    return dueNanos >= windowNanos && dueNanos < endNanos;
  }

  private void finishIfIdle() {
    if (underWay == 0 && !hasNext() && System.nanoTime() >= endNanos && !inWindow) {
      finish();
    }
  }

  private void finish() {
    if (over) {
      return;
    }
    over = true;
    if (!load.hold()) {
      waiting.forEach(this::unfinished);
      open.stream().filter(Call::isUnderWay).forEach(call -> unfinished(call.dueNanos()));
    }
    open.forEach(Call::abandon);
    request.release();
    done.complete(
        new LoadReport(
            asked,
            answered,
            events,
            streamsAtEnd,
            Map.copyOf(failures),
            answerNanos,
            firstByteNanos,
            relayNanos,
            lateNanos));
  }

  private void unfinished(long dueNanos) {
    if (isMeasured(dueNanos)) {
      failures.merge(Failure.UNFINISHED, 1L, Long::sum);
    }
  }
}
