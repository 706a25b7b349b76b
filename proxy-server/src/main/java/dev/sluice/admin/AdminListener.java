package dev.sluice.admin;

import dev.sluice.transport.Waiting;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listener for operators: {@code /metrics}, {@code /healthz}, {@code /readyz}, {@code /config}
 * by {@code GET} or {@code HEAD}, and the calls that show and change how Sluice runs.
 *
 * <table>
 *   <caption>Bounds</caption>
 *   <tr><td>connections</td><td>64; further ones are closed at once</td></tr>
 *   <tr><td>requests of a connection</td><td>1; it is closed after the answer</td></tr>
 *   <tr><td>life of a connection</td><td>30 s, whatever its client does</td></tr>
 *   <tr><td>request line, header lines, body</td><td>4 KiB, 8 KiB, 8 KiB</td></tr>
 * </table>
 */
public final class AdminListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AdminListener.class);

  private static final int MAX_CONNECTIONS = 64;
  private static final int MAX_BODY_BYTES = 8 << 10;
  private static final Duration CONNECTION_LIFE = Duration.ofSeconds(30);

  private final Channel channel;
  private final InetSocketAddress address;
  private final ChannelGroup connections;

  private AdminListener(Channel channel, ChannelGroup connections) {
    this.channel = channel;
    this.address = (InetSocketAddress) channel.localAddress();
    this.connections = connections;
  }

  /**
   * Binds the address and answers from then on. Waits until it is bound.
   *
   * @param group where requests are answered; a scrape takes milliseconds, so one loop of its own,
   *     none that carries exchanges. Stays the caller's to shut down.
   * @param channelClass the kind of server channel that the group drives
   * @param address where to listen; port 0 for any
   * @param metrics what {@code /metrics} tells
   * @param readiness what {@code /readyz} tells; read on the group's loop, must not block
   * @param config what {@code /config} tells, as JSON; read on the group's loop, must not block
   * @param operations what else operators can see and change
   * @param token what operators must send to change something; null where only this machine's may
   * @throws IOException when the address cannot be bound; the message names it
   */
  public static AdminListener open(
      EventLoopGroup group,
      Class<? extends ServerChannel> channelClass,
      InetSocketAddress address,
      Metrics metrics,
      Supplier<Readiness> readiness,
      Supplier<String> config,
      Operations operations,
      Supplier<@Nullable String> token)
      throws IOException {
    Calls calls = new Calls(operations, new AccessRule(token));
    return open(group, channelClass, address, metrics, readiness, config, calls, CONNECTION_LIFE);
  }

  static AdminListener open(
      EventLoopGroup group,
      Class<? extends ServerChannel> channelClass,
      InetSocketAddress address,
      Metrics metrics,
      Supplier<Readiness> readiness,
      Supplier<String> config,
      Calls calls,
      Duration connectionLife)
      throws IOException {
    ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    ChannelFuture binding =
        new ServerBootstrap()
            .group(group)
            .channel(channelClass)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel connection) {
                    if (connections.size() >= MAX_CONNECTIONS) {
                      connection.close();
                      return;
                    }
                    connections.add(connection);
                    closeAfter(connection, connectionLife);
                    connection
                        .pipeline()
                        .addLast(new HttpServerCodec(new HttpDecoderConfig()))
                        .addLast(new HttpObjectAggregator(MAX_BODY_BYTES, true))
                        .addLast(new AdminHandler(metrics, readiness, config, calls));
                  }
                })
            .bind(address);
    return new AdminListener(Waiting.bound(binding, "admin", address), connections);
  }

  private static void closeAfter(Channel connection, Duration life) {
    Future<?> end =
        connection
            .eventLoop()
            .schedule(() -> connection.close(), life.toNanos(), TimeUnit.NANOSECONDS);
    connection.closeFuture().addListener(closed -> end.cancel(false));
  }

  /** The address that was bound, with the port that port 0 became. */
  public InetSocketAddress address() {
    return address;
  }

  /** Stops listening and closes every connection. Waits until that is done. */
  @Override
  public void close() {
    try {
      Waiting.done(channel.close());
      Waiting.done(connections.close());
    } catch (IOException e) {
      LOG.warn("admin: {}:{} not closed", address.getHostString(), address.getPort(), e);
    }
  }
}
