package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.exchange.Exchange;
import org.jspecify.annotations.Nullable;

/** A step that knows at once: looks at an exchange and lets it pass, or refuses it. */
abstract class Rule extends Step {
  @Override
  final void take(Exchange exchange) {
    Failure failure = check(exchange);
    if (failure == null) {
      pass(exchange);
    } else {
      exchange.refuse(failure);
    }
  }

  /** Null where the exchange passes. */
  abstract @Nullable Failure check(Exchange exchange);
}
