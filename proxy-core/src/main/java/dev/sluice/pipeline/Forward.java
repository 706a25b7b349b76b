package dev.sluice.pipeline;

import dev.sluice.exchange.Exchange;

/** Forwards what passed every rule to its model's upstream and relays the answer: 502, 503. */
final class Forward extends Step {
  @Override
  void take(Exchange exchange) {
    exchange.forward();
  }
}
