package dev.sluice.demo;

import dev.sluice.transport.Waiting;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An upstream without a model: it answers {@code POST /v1/chat/completions} and {@code POST
 * /v1/messages}, as one JSON object or as a stream of words, in the formats of the public APIs.
 *
 * <p>The text of an answer quotes the last user message, says how many images came, and is cut
 * after {@code max_tokens} (or {@code max_completion_tokens}) words; a word counts as a token.
 * Tools, stop sequences and sampling parameters are accepted and change nothing. A request that it
 * cannot answer gets a JSON error in the dialect of its path.
 *
 * <p>Safe for all threads.
 */
public final class DemoUpstream implements AutoCloseable {

  private final Channel listening;
  private final ChannelGroup channels;
  private final AtomicInteger runningStreams;

  private DemoUpstream(Channel listening, ChannelGroup channels, AtomicInteger runningStreams) {
    this.listening = listening;
    this.channels = channels;
    this.runningStreams = runningStreams;
  }

  /**
   * Starts it on a free loopback port, and returns when it listens. Blocks, so not for an event
   * loop.
   *
   * @param group runs all of its channels; not shut down by {@link #close()}
   * @param channel the listening channel's class, one that the group can run
   * @param wordInterval the time before each word of a stream; zero for none
   * @throws UncheckedIOException when it could not listen
   */
  public static DemoUpstream start(
      EventLoopGroup group, Class<? extends ServerChannel> channel, Duration wordInterval) {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try {
      return start(group, channel, address, wordInterval);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The same, on this address.
   *
   * @throws IOException when it could not listen
   */
  public static DemoUpstream start(
      EventLoopGroup group,
      Class<? extends ServerChannel> channel,
      InetSocketAddress address,
      Duration wordInterval)
      throws IOException {
    if (wordInterval.isNegative()) {
      throw new IllegalArgumentException("wordInterval: " + wordInterval + " (expected: >= 0)");
    }
    ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    AtomicInteger runningStreams = new AtomicInteger();
    ChannelFuture binding =
        new ServerBootstrap()
            .group(group)
            .channel(channel)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel accepted) {
                    channels.add(accepted);
                    accepted
                        .pipeline()
                        .addLast(
                            new HttpServerCodec(),
                            new HttpServerKeepAliveHandler(),
                            new DemoBody(),
                            new DemoHandler(wordInterval, runningStreams));
                  }
                })
            .bind(address);
    Channel listening = Waiting.bound(binding, "demo upstream", address);
    channels.add(listening);
    return new DemoUpstream(listening, channels, runningStreams);
  }

  /** The port that it listens on. */
  public int port() {
    return ((InetSocketAddress) listening.localAddress()).getPort();
  }

  /** How many streams it is sending now; those whose client has gone are not counted. */
  public int runningStreams() {
    return runningStreams.get();
  }

  /** Stops listening and breaks off every connection. Returns at once. */
  @Override
  public void close() {
    channels.close();
  }
}
