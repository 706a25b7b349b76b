package dev.sluice.pipeline;

import dev.sluice.upstream.ConnectionLoss;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * What nobody before it caught: a connection that broke is closed; anything else is a fault of
 * Sluice, answered 500 where that is still possible.
 */
final class Fault extends ChannelInboundHandlerAdapter {
  private final DownstreamConnection connection;

  Fault(DownstreamConnection connection) {
    this.connection = connection;
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (ConnectionLoss.is(cause)) {
      ctx.close();
    } else {
      connection.fault(cause);
    }
  }
}
