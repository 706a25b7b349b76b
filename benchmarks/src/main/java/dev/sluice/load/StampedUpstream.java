package dev.sluice.load;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The upstream that proxies are measured in front of, on one event loop. Each request says what it
 * is to be answered with. Events bear the time when they were due.
 */
public final class StampedUpstream {
  /*
   * One tick a millisecond looks at a wheel of due streams: no timer for each event. Events are due
   * on ticks, so that the wait for the next tick is no part of their age; that a tick is late is. The
   * wheel is larger than the longest interval by as long as this loop may be late.
   */
  private static final int TICKS = AskedAnswer.MAX_INTERVAL_MILLIS + 60_000;

  private static final int BACKLOG = 4_096;
  private static final int READ_BYTES = 64 << 10;

  private final EventLoop loop;
  private final ChannelGroup channels;
  private final List<List<Answering>> wheel = new ArrayList<>();
  private final long startNanos = System.nanoTime();
  private Histogram lateNanos = LoadGenerator.histogram();
  private long tick;

  /** An upstream that is not bound yet. */
  public StampedUpstream(EventLoop loop) {
    this.loop = loop;
    this.channels = new DefaultChannelGroup(loop);
    for (int i = 0; i < TICKS; i++) {
      wheel.add(new ArrayList<>());
    }
  }

  /** Listens on this address. The future's channel knows the port where it was 0. */
  public ChannelFuture bind(Class<? extends ServerChannel> channelType, SocketAddress address) {
    loop.scheduleAtFixedRate(this::tick, 1, 1, TimeUnit.MILLISECONDS);
    ChannelFuture binding =
        new ServerBootstrap()
            .group(loop)
            .channel(channelType)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_BYTES))
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channels.add(channel);
                    channel.pipeline().addLast(new Answering(StampedUpstream.this));
                  }
                })
            .bind(address);
    channels.add(binding.channel());
    return binding;
  }

  /** Closes all connections, and listens no more. */
  public void close() {
    channels.close();
  }

  /**
   * How late events were sent, since the last call: the upstream's own part of their age. On the
   * upstream's loop only.
   */
  public Histogram takeLateNanos() {
    Histogram taken = lateNanos;
    lateNanos = LoadGenerator.histogram();
    return taken;
  }

  /** The tick that is due now; the wheel may not have come to it yet. */
  long nowTick() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }

  /** Has the stream's next event come at its {@link Answering#dueTick}, which lies ahead. */
  void schedule(Answering answering) {
    wheel.get((int) (answering.dueTick % TICKS)).add(answering);
  }

  private void tick() {
    long until = nowTick();
    while (tick < until) {
      tick++;
      long dueNanos = startNanos + TimeUnit.MILLISECONDS.toNanos(tick);
      List<Answering> due = wheel.get((int) (tick % TICKS));
      for (Answering answering : due) {
        if (answering.isOpen()) {
          LoadGenerator.record(lateNanos, System.nanoTime() - dueNanos);
          answering.event(dueNanos);
        }
      }
      due.clear();
    }
  }
}
