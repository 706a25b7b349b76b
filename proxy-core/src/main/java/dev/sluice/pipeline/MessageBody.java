package dev.sluice.pipeline;

import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.HeldBody;
import dev.sluice.exchange.Look;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.exchange.Route;
import dev.sluice.message.Inspection;
import dev.sluice.message.Operation;
import dev.sluice.message.Refusal;
import dev.sluice.message.RequestFacts;
import dev.sluice.message.RequestInspector;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * Lets the body come once the head has passed, holds it as it comes (413 past the bound) and has it
 * inspected when it is whole: 400 where it breaks the shape of the contract. Every request that
 * gets here is forwarded. One instance a connection: it holds the body under way.
 */
final class MessageBody extends ChannelInboundHandlerAdapter {
  private @Nullable Exchange reading;

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof Exchange exchange) {
      reading = exchange;
      exchange.holdBody(maxBytes(exchange));
      exchange.downstream().readBody();
    } else if (message instanceof HttpContent content) {
      content(ctx, content);
    } else {
      ctx.fireChannelRead(message);
    }
  }

  private void content(ChannelHandlerContext ctx, HttpContent content) {
    Exchange exchange = reading;
    if (exchange == null || !exchange.isOpen()) {
      content.release();
    } else if (content instanceof LastHttpContent) {
      content.release();
      reading = null;
      inspect(ctx, exchange);
    } else {
      HeldBody.Added added = exchange.body().add(content.content());
      switch (added) {
        case OK -> {}
        case TOO_LARGE -> exchange.refuse(BodySize.tooLarge(maxBytes(exchange)));
        case OVER_BUDGET -> exchange.refuse(MemoryBudget.exhausted());
      }
    }
  }

  private static int maxBytes(Exchange exchange) {
    return exchange.snapshot().limits().maxBodyBytes();
  }

  private static void inspect(ChannelHandlerContext ctx, Exchange exchange) {
    Operation operation = ((Route.Forwarded) exchange.route()).operation();
    Look.<Inspection>at(
        exchange,
        exchange.body(),
        (bytes, offset, length) -> RequestInspector.inspect(bytes, offset, length, operation),
        inspection -> inspected(ctx, exchange, inspection));
  }

  private static void inspected(
      ChannelHandlerContext ctx, Exchange exchange, Inspection inspection) {
    if (!exchange.isOpen()) {
      return; // the caller left meanwhile
    }
    if (inspection instanceof Refusal refusal) {
      exchange.refuse(refusal.failure());
    } else {
      exchange.learn((RequestFacts) inspection);
      ctx.fireChannelRead(exchange);
    }
  }
}
