package dev.sluice.page;

import dev.sluice.transport.Waiting;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small HTTP listener beside the public one: whole requests, whole answers, and live events.
 *
 * <table>
 *   <caption>Bounds</caption>
 *   <tr><td>connections, and those of them that listen to events</td><td>{@link Bounds}; further
 *     connections are closed at once, further listeners answered 503</td></tr>
 *   <tr><td>requests of a connection</td><td>1; it is closed after the answer</td></tr>
 *   <tr><td>life of a connection</td><td>30 s, with events 10 min, whatever its client does</td>
 *     </tr>
 *   <tr><td>request line, header lines, body</td><td>4 KiB, 8 KiB, 8 KiB</td></tr>
 * </table>
 */
public final class PageListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PageListener.class);

  private static final int MAX_BODY_BYTES = 8 << 10;

  private final String name;
  private final Channel channel;
  private final InetSocketAddress address;
  private final ChannelGroup connections;
  private final LiveEvents events;

  /**
   * How much of it may be in use at once, and for how long.
   *
   * @param connections most connections
   * @param connectionLife most time of a connection
   * @param eventsLife most time of a connection that events are sent over
   */
  public record Bounds(int connections, Duration connectionLife, Duration eventsLife) {
    /** For this many connections at once. */
    public static Bounds of(int connections) {
      return new Bounds(connections, Duration.ofSeconds(30), Duration.ofMinutes(10));
    }
  }

  private PageListener(String name, Channel channel, ChannelGroup connections, LiveEvents events) {
    this.name = name;
    this.channel = channel;
    this.address = (InetSocketAddress) channel.localAddress();
    this.connections = connections;
    this.events = events;
  }

  /**
   * Binds the address and answers from then on. Waits until it is bound.
   *
   * @param name what listens there, as in {@code admin}
   * @param loop where requests are answered; one of its own, none that carries exchanges
   * @param channelClass the kind of server channel that the loop drives
   * @param address where to listen; port 0 for any
   * @param events what {@code /events} tells; closed with the listener
   * @throws IOException when the address cannot be bound; the message names it
   */
  public static PageListener open(
      String name,
      EventLoop loop,
      Class<? extends ServerChannel> channelClass,
      InetSocketAddress address,
      Routes routes,
      LiveEvents events,
      Bounds bounds)
      throws IOException {
    ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    ChannelFuture binding =
        new ServerBootstrap()
            .group(loop)
            .channel(channelClass)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel connection) {
                    if (connections.size() >= bounds.connections()) {
                      connection.close();
                      return;
                    }
                    connections.add(connection);
                    connection
                        .pipeline()
                        .addLast(new HttpServerCodec(new HttpDecoderConfig()))
                        .addLast(new HttpObjectAggregator(MAX_BODY_BYTES, true))
                        .addLast(new PageHandler(name, routes, events, bounds));
                  }
                })
            .bind(address);
    try {
      return new PageListener(name, Waiting.bound(binding, name, address), connections, events);
    } catch (IOException e) {
      events.close();
      throw e;
    }
  }

  /** The address that was bound, with the port that port 0 became. */
  public InetSocketAddress address() {
    return address;
  }

  /** Stops listening and closes every connection. Waits until that is done. */
  @Override
  public void close() {
    events.close();
    try {
      Waiting.done(channel.close());
      Waiting.done(connections.close());
    } catch (IOException e) {
      LOG.warn("{}: {}:{} not closed", name, address.getHostString(), address.getPort(), e);
    }
  }
}
