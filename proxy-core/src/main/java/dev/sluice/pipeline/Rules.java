package dev.sluice.pipeline;

import dev.sluice.access.KeyCache;
import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.slots.StreamSlots;
import java.time.InstantSource;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The rules of the contract, in the contract's order. The first that fails answers, and nothing
 * goes on behind it. All connections share them.
 */
final class Rules {
  /*
   * Why they are no handlers of Netty's: a handler has a context in each connection, which lives as
   * long as that, and a rule has nothing to keep there.
   */
  private final Map<String, Step> inOrder = new LinkedHashMap<>();
  private final Admission admission;
  private final BearerKey bearerKey;
  private final MessageBody messageBody;

  Rules(
      EdgeState state, MemoryBudget budget, KeyCache keys, InstantSource clock, StreamSlots slots) {
    this.admission = new Admission(state, budget);
    this.bearerKey = new BearerKey(keys, state, clock);
    this.messageBody = new MessageBody();

    // While Sluice cannot take a request, nothing of it is looked at: 503.
    inOrder.put("admission", admission);
    // A body that says it is too large is not read: 413.
    inOrder.put("body-size", new BodySize());
    // What is not JSON is not read either: 415.
    inOrder.put("content-type", new ContentType());
    // Who calls, before anything is said about what is here: 401, 403.
    inOrder.put("bearer-key", bearerKey);
    // What is called: 404, 405.
    inOrder.put("route", new Routing());
    // The one thing that Sluice answers itself: which models there are.
    inOrder.put("model-list", new ModelList());
    // The head has passed: the body may come, is held and inspected whole: 413, 408, 400.
    inOrder.put("message-body", messageBody);
    // The body names the model: 404, 403, and 503 while that is in maintenance.
    inOrder.put("model-access", new ModelAccess(state.maintenance()));
    // The last check, so that no slot is taken for a request that fails: 429.
    inOrder.put("stream-slot", new StreamSlot(slots));
    // To the upstream and back: 502, 503.
    inOrder.put("forward", new Forward());

    link(inOrder);
  }

  private static void link(Map<String, Step> steps) {
    Step before = null;
    for (Step step : steps.values()) {
      if (before != null) {
        before.linkTo(step);
      }
      before = step;
    }
  }

  /** An exchange begins its way. */
  void take(Exchange exchange) {
    admission.take(exchange);
  }

  /** The steps and their names, in their order. */
  Map<String, Step> inOrder() {
    return Collections.unmodifiableMap(inOrder);
  }

  /** Counts connections, too. */
  Admission admission() {
    return admission;
  }

  /** Looks at keys of running exchanges again, too. */
  BearerKey bearerKey() {
    return bearerKey;
  }

  /** Takes the contents of bodies. */
  MessageBody messageBody() {
    return messageBody;
  }
}
