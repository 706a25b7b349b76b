package dev.sluice.transport;

import dev.sluice.upstream.UpstreamTransport;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringDatagramChannel;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.PlatformDependent;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What connections are driven with: io_uring on Linux 6.15 and newer where it is allowed, else
 * epoll; NIO elsewhere.
 *
 * @param name its name, for the log
 * @param handlers drives the channels of one loop
 * @param listening the class of listening channels
 * @param connecting makes a channel to an upstream
 * @param asking makes a channel to a name server
 */
public record Transport(
    String name,
    IoHandlerFactory handlers,
    Class<? extends ServerChannel> listening,
    ChannelFactory<? extends SocketChannel> connecting,
    ChannelFactory<? extends DatagramChannel> asking) {

  private static final Logger logger = LoggerFactory.getLogger(Transport.class);

  static {
    /*
     * A poll that repeats itself tells of each change once. Netty loses one that comes while it
     * reads, as a reset behind the last bytes does, and the connection hangs. A poll for each read
     * sees what there is, for hardly more CPU.
     */
    System.setProperty("io.netty.iouring.pollAddMultishotEnabled", "false");
    /*
     * An accept that repeats itself takes all connections that wait at once, and then all their
     * requests are read before the first is forwarded: thousands of callers that come back together
     * have a buffer each. One accept a turn lets the loop serve whom it has.
     */
    System.setProperty("io.netty.iouring.acceptMultiShotEnabled", "false");
    // Else a loop without work counts as one that waits for a disk, all day.
    System.setProperty("io.netty.iouring.enterNoIoWaitEnabled", "true");
  }

  /**
   * The transport that the system property {@code sluice.transport} names, else the best there is
   * here. Says so loudly where a native one should be and is not.
   *
   * @throws IllegalArgumentException when the property names none, or one that is not to be had
   *     here
   */
  public static Transport best() {
    String name = System.getProperty("sluice.transport");
    return name == null ? bestHere() : of(name);
  }

  /** The best that this machine has and allows. */
  static Transport bestHere() {
    // Containers mostly forbid io_uring: no fault, and none of the operator's doing.
    if (IoUring.isAvailable() && IoUring.isIoringEnterNoIoWaitEnabled()) {
      return ioUring();
    }
    if (Epoll.isAvailable()) {
      return epoll();
    }
    if (PlatformDependent.normalizedOs().equals("linux")) {
      logger.warn("transport: NIO (expected: epoll on Linux)", Epoll.unavailabilityCause());
    }
    return nio();
  }

  static Transport of(String name) {
    return switch (name) {
      case "io_uring" -> {
        had(name, IoUring.isAvailable(), IoUring.unavailabilityCause());
        yield ioUring();
      }
      case "epoll" -> {
        had(name, Epoll.isAvailable(), Epoll.unavailabilityCause());
        yield epoll();
      }
      case "nio" -> nio();
      default ->
          throw new IllegalArgumentException(
              "sluice.transport: " + name + " (expected: io_uring, epoll or nio)");
    };
  }

  private static void had(String name, boolean available, @Nullable Throwable cause) {
    if (!available) {
      throw new IllegalArgumentException(
          "sluice.transport: " + name + " is not to be had here", cause);
    }
  }

  private static Transport ioUring() {
    return new Transport(
        "io_uring",
        IoUringIoHandler.newFactory(),
        IoUringServerSocketChannel.class,
        IoUringSocketChannel::new,
        IoUringDatagramChannel::new);
  }

  private static Transport epoll() {
    return new Transport(
        "epoll",
        EpollIoHandler.newFactory(),
        EpollServerSocketChannel.class,
        EpollSocketChannel::new,
        EpollDatagramChannel::new);
  }

  private static Transport nio() {
    return new Transport(
        "nio",
        NioIoHandler.newFactory(),
        NioServerSocketChannel.class,
        NioSocketChannel::new,
        NioDatagramChannel::new);
  }

  /** A group of this many event loops, whose threads are named so. */
  public EventLoopGroup loops(int count, String threads) {
    return new MultiThreadIoEventLoopGroup(
        count, new DefaultThreadFactory(threads, true), handlers);
  }

  /** What connections to upstreams are made with. Names are looked up without blocking a loop. */
  public UpstreamTransport upstream() {
    DnsNameResolverBuilder names = new DnsNameResolverBuilder().datagramChannelFactory(asking);
    return new UpstreamTransport(connecting, new DnsAddressResolverGroup(names), new LazyTls());
  }

  /** Reading the machine's trusted certificates takes a while; many have no https upstream. */
  private static final class LazyTls implements Supplier<SslContext> {
    private @Nullable SslContext context;

    @Override
    public synchronized SslContext get() {
      if (context == null) {
        try {
          context = SslContextBuilder.forClient().endpointIdentificationAlgorithm("HTTPS").build();
        } catch (SSLException e) {
          throw new IllegalStateException("every Java platform has a TLS client", e);
        }
      }
      return context;
    }
  }
}
