package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.slots.BoundedCounter;
import io.netty.channel.Channel;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Takes no requests while Sluice starts, drains or is in maintenance, has no memory for another
 * body or as many exchanges under way as it may, or on a connection that is one too many: 503,
 * before anything else of the request is looked at.
 */
final class Admission extends Rule {
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

  /** A connection was opened; true where it is one too many. Far too many are closed at once. */
  boolean opened(Channel connection) {
    int tooMany = connections.incrementAndGet() - state.snapshot().limits().maxConnections();
    if (tooMany > MAX_TOLD) {
      connection.close();
    }
    return tooMany > 0;
  }

  /** A connection was closed. */
  void closed() {
    connections.decrementAndGet();
  }

  @Override
  @Nullable Failure check(Exchange exchange) {
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
    if (exchange.downstream().isTooMany()) {
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
