package dev.sluice.pipeline;

import dev.sluice.exchange.Exchange;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Forwards what passed every rule to its model's upstream and relays the answer: 502, 503. */
@Sharable
final class Forward extends ChannelInboundHandlerAdapter {
  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof Exchange exchange) {
      exchange.forward();
    } else {
      ctx.fireChannelRead(message);
    }
  }
}
