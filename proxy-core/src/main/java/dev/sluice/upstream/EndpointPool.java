package dev.sluice.upstream;

import dev.sluice.cluster.Endpoint;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** The connections of one event loop to one endpoint of one model. Event loop only. */
final class EndpointPool {
  /*
   * Last in, first out: the connection used last is the least likely to be stale, and those that a
   * quiet hour does not need grow old at the other end. One that died in the pool stays in the queue
   * until it comes to either end; it is told by its phase.
   */

  /** Idle connections past this many are closed instead of kept. */
  static final int MAX_IDLE = 4096;

  /**
   * Reads of a fixed size: a buffer that adapts shrinks to the size of one event, and then needs
   * two reads for the next one that is a little larger. Of one page, as io_uring has a buffer for
   * each read that was asked for, not only for the one that is looked at.
   */
  private static final FixedRecvByteBufAllocator READS = new FixedRecvByteBufAllocator(4 << 10);

  private final ConnectionPool pool;
  private final Endpoint endpoint;
  private final SocketAddress address;
  private final ConnectionCounts counts;
  private final ArrayDeque<UpstreamConnection> idle = new ArrayDeque<>();
  private int maxIdle = MAX_IDLE;

  EndpointPool(ConnectionPool pool, Endpoint endpoint, ConnectionCounts counts) {
    this.pool = pool;
    this.endpoint = endpoint;
    this.address = address(endpoint);
    this.counts = counts;
  }

  UpstreamConnection acquire(AnswerHandler handler, boolean fresh) {
    UpstreamConnection pooled = fresh ? null : takeIdle();
    if (pooled != null) {
      pooled.reuse(handler);
      return pooled;
    }
    return connect(handler);
  }

  private @Nullable UpstreamConnection takeIdle() {
    while (!idle.isEmpty()) {
      UpstreamConnection connection = idle.removeFirst();
      if (connection.isIdle()) {
        return connection;
      }
    }
    return null;
  }

  private UpstreamConnection connect(AnswerHandler handler) {
    UpstreamConnection connection = new UpstreamConnection(this, handler);
    Bootstrap bootstrap =
        new Bootstrap()
            .group(pool.loop())
            .channelFactory(pool.transport().channels())
            .resolver(pool.transport().resolver())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            // The attempt's own deadline bounds names, connection and TLS together.
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
            .option(ChannelOption.RECVBUF_ALLOCATOR, READS)
            // A write that fails does not end it: an answer that came before may be still to read.
            .option(ChannelOption.AUTO_CLOSE, false)
            .handler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    if (endpoint.tls()) {
                      channel.pipeline().addLast("tls", tls(channel, connection));
                    }
                    channel.pipeline().addLast("connection", connection);
                  }
                });
    ChannelFuture connecting = bootstrap.connect(address);
    if (!connecting.channel().isRegistered()) {
      // There is no channel, for want of a file descriptor say, and so no loop that would tell.
      pool.loop().execute(connection::connectFailed);
      return connection;
    }
    connection.attach(connecting.channel());
    connecting.addListener(
        future -> {
          if (!future.isSuccess()) {
            connection.connectFailed();
          } else if (!endpoint.tls()) {
            connection.connected();
          }
        });
    return connection;
  }

  private SslHandler tls(Channel channel, UpstreamConnection connection) {
    SslHandler tls =
        pool.transport().tls().get().newHandler(channel.alloc(), endpoint.host(), endpoint.port());
    tls.setHandshakeTimeoutMillis(0);
    tls.handshakeFuture()
        .addListener(
            future -> {
              if (future.isSuccess()) {
                connection.connected();
              } else {
                connection.connectFailed();
              }
            });
    return tls;
  }

  private static SocketAddress address(Endpoint endpoint) {
    byte[] literal = NetUtil.createByteArrayFromIpAddressString(endpoint.host());
    if (literal == null) {
      return InetSocketAddress.createUnresolved(endpoint.host(), endpoint.port());
    }
    try {
      return new InetSocketAddress(InetAddress.getByAddress(literal), endpoint.port());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address has 4 or 16 bytes", e);
    }
  }

  void put(UpstreamConnection connection) {
    idle.addFirst(connection);
    if (idle.size() > maxIdle) {
      idle.removeLast().closeIfIdleSince(nowNanos());
    }
  }

  /** Keeps connections that become idle, or closes them and those that are. */
  void keepIdle(boolean keep) {
    maxIdle = keep ? MAX_IDLE : 0;
    if (!keep) {
      closeIdleSince(nowNanos());
    }
  }

  void closeIdleSince(long nanos) {
    for (UpstreamConnection connection : idle) {
      connection.closeIfIdleSince(nanos);
    }
    idle.removeIf(connection -> !connection.isIdle());
  }

  boolean isTls() {
    return endpoint.tls();
  }

  ConnectionCounts counts() {
    return counts;
  }

  LoopFlush flush() {
    return pool.flush();
  }

  long nowNanos() {
    return pool.timer().nowNanos();
  }
}
