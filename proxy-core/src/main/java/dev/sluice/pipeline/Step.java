package dev.sluice.pipeline;

import dev.sluice.exchange.Exchange;
import org.jspecify.annotations.Nullable;

/**
 * One step of an exchange's way through the rules of the contract: lets it go on to the next step,
 * or refuses or answers it, at once or later. Shared by all connections; an exchange is touched on
 * its own event loop alone.
 */
abstract class Step {
  private @Nullable Step next;

  /** Links the step that follows; before the first exchange comes. */
  final void linkTo(Step following) {
    next = following;
  }

  /** An exchange has come to this step. */
  abstract void take(Exchange exchange);

  /**
   * The exchange has passed this step. What fails behind it, whoever calls, ends the exchange and
   * its connection, and nothing else.
   */
  final void pass(Exchange exchange) {
    if (next == null) {
      throw new IllegalStateException("next: none (expected: a step behind one that passes)");
    }
    try {
      next.take(exchange);
    } catch (RuntimeException | Error e) {
      exchange.downstream().closeAfterAnswer();
      exchange.fault(e);
    }
  }
}
