package dev.sluice.load;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The two event loops of a measurement: one asks, one answers.
 *
 * @param group both loops
 * @param asking the load generator's
 * @param answering the upstream's
 * @param connecting makes channels that connect
 * @param listening the class of channels that listen
 */
public record Sockets(
    EventLoopGroup group,
    EventLoop asking,
    EventLoop answering,
    ChannelFactory<? extends Channel> connecting,
    Class<? extends ServerChannel> listening)
    implements AutoCloseable {

  /** Over epoll where there is one, else over NIO. */
  public static Sockets open() {
    return Epoll.isAvailable()
        ? open(EpollIoHandler.newFactory(), EpollSocketChannel::new, EpollServerSocketChannel.class)
        : open(NioIoHandler.newFactory(), NioSocketChannel::new, NioServerSocketChannel.class);
  }

  private static Sockets open(
      IoHandlerFactory handlers,
      ChannelFactory<? extends Channel> connecting,
      Class<? extends ServerChannel> listening) {
    EventLoopGroup group =
        new MultiThreadIoEventLoopGroup(2, new DefaultThreadFactory("load", true), handlers);
    return new Sockets(group, group.next(), group.next(), connecting, listening);
  }

  @Override
  public void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
