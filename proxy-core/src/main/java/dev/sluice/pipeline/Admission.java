package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.slots.BoundedCounter;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.AttributeKey;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Takes no requests while Sluice starts, drains or is in maintenance, has no memory for another
 * body or as many exchanges under way as it may, or on a connection that is one too many: 503,
 * before anything else of the request is looked at.
 */
@Sharable
final class Admission extends Rule {
  private static final AttributeKey<Boolean> OVER_LIMIT =
      AttributeKey.valueOf(Admission.class, "overLimit");

  /** Connections past the limit that are kept to be told so; any more are closed unheard. */
  private static final int MAX_TOLD = 256;

  private final EdgeState state;
  private final MemoryBudget budget;
  private final AtomicInteger connections = new AtomicInteger();
  private final BoundedCounter exchanges = new BoundedCounter();
  private final Runnable exchangeEnded = exchanges::release;

  Admission(EdgeState state, MemoryBudget budget) {
    this.state = state;
    this.budget = budget;
  }

  /** How many connections are open. */
  int connections() {
    return connections.get();
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    int open = connections.incrementAndGet();
    int maxConnections = state.snapshot().limits().maxConnections();
    if (open > maxConnections) {
      ctx.channel().attr(OVER_LIMIT).set(true);
      if (open > maxConnections + MAX_TOLD) {
        ctx.close();
      }
    }
    ctx.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    connections.decrementAndGet();
    ctx.fireChannelInactive();
  }

  @Override
  @Nullable Failure check(ChannelHandlerContext ctx, Exchange exchange) {
    switch (state.phase()) {
      case STARTING -> {
        return Failure.of(Reason.STARTING, "Sluice is starting." + AGAIN);
      }
      case DRAINING -> {
        return Failure.of(Reason.DRAINING, "Sluice is shutting down." + AGAIN);
      }
      case READY -> {}
    }
    Failure maintenance = state.maintenance().ofAll();
    if (maintenance != null) {
      return maintenance;
    }
    if (ctx.channel().hasAttr(OVER_LIMIT)) {
      exchange.downstream().closeAfterAnswer();
      return Failure.of(
          Reason.CONNECTION_LIMIT, "Sluice has as many connections as it may have." + AGAIN);
    }
    if (budget.isExhausted()) {
      return MemoryBudget.exhausted();
    }
    if (exchanges.tryAcquire(exchange.snapshot().limits().maxExchanges()) < 0) {
      return Failure.of(
          Reason.EXCHANGE_LIMIT, "Sluice has as many requests under way as it may have." + AGAIN);
    }
    exchange.whenEnded(exchangeEnded);
    return null;
  }

  private static final String AGAIN =
      " Wait the seconds in Retry-After, then send the request again.";
}
