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
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;

/**
 * Lets the body come once the head has passed, holds it as it comes (413 past the bound) and has it
 * inspected when it is whole: 400 where it breaks the shape of the contract. Every request that
 * gets here is forwarded.
 */
final class MessageBody extends Step {
  @Override
  void take(Exchange exchange) {
    exchange.holdBody(maxBytes(exchange));
    exchange.downstream().readBody();
  }

  /** The next piece of the body of an exchange that is open, or its end. */
  void content(Exchange exchange, HttpContent content) {
    if (content instanceof LastHttpContent) {
      content.release();
      inspect(exchange);
      return;
    }
    HeldBody.Added added = exchange.body().add(content.content());
    switch (added) {
      case OK -> {}
      case TOO_LARGE -> exchange.refuse(BodySize.tooLarge(maxBytes(exchange)));
      case OVER_BUDGET -> exchange.refuse(MemoryBudget.exhausted());
    }
  }

  private static int maxBytes(Exchange exchange) {
    return exchange.snapshot().limits().maxBodyBytes();
  }

  private void inspect(Exchange exchange) {
    Operation operation = ((Route.Forwarded) exchange.route()).operation();
    Look.<Inspection>at(
        exchange,
        exchange.body(),
        (bytes, offset, length) -> RequestInspector.inspect(bytes, offset, length, operation),
        inspection -> inspected(exchange, inspection));
  }

  private void inspected(Exchange exchange, Inspection inspection) {
    if (!exchange.isOpen()) {
      return; // the caller left meanwhile
    }
    if (inspection instanceof Refusal refusal) {
      exchange.refuse(refusal.failure());
    } else {
      exchange.learn((RequestFacts) inspection);
      pass(exchange);
    }
  }
}
