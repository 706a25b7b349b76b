package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.exchange.Exchange;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.jspecify.annotations.Nullable;

/**
 * One rule of the contract: looks at an exchange and lets it pass, or refuses it. Stateless; shared
 * by all connections.
 */
abstract class Rule extends ChannelInboundHandlerAdapter {
  @Override
  public final void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof Exchange exchange) {
      Failure failure = check(ctx, exchange);
      if (failure != null) {
        exchange.refuse(failure);
        return;
      }
    }
    ctx.fireChannelRead(message);
  }

  /** Null where the exchange passes. */
  abstract @Nullable Failure check(ChannelHandlerContext ctx, Exchange exchange);
}
