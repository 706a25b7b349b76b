package dev.sluice.pipeline;

import dev.sluice.access.Plan;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import dev.sluice.slots.SlotLease;
import dev.sluice.slots.StreamSlots;
import org.jspecify.annotations.Nullable;

/**
 * A streaming request takes one slot of its plan, and of its key: 429 where all are in use. It is
 * not started then; running streams go on. The exchange gives the slot back.
 */
final class StreamSlot extends Rule {
  private final StreamSlots slots;

  StreamSlot(StreamSlots slots) {
    this.slots = slots;
  }

  @Override
  @Nullable Failure check(Exchange exchange) {
    if (!exchange.facts().stream()) {
      return null;
    }
    Plan plan = exchange.plan();
    StreamSlots.Outcome outcome = slots.acquire(plan, exchange.key().name());
    exchange.slotsLeft(outcome.left());
    SlotLease lease = outcome.lease();
    if (lease != null) {
      exchange.hold(lease);
    }
    return outcome.refusal() == null ? null : busy(outcome.refusal(), outcome.left().limit());
  }

  private static Failure busy(StreamSlots.Refusal refusal, int limit) {
    boolean ofKey = refusal.busy() == StreamSlots.Busy.KEY;
    return Failure.retryAfter(
        ofKey ? Reason.SLOTS_OF_KEY : Reason.SLOTS_OF_PLAN,
        "All "
            + limit
            + (ofKey ? " streams of this API key" : " stream slots of the plan")
            + " are in use. Wait the seconds in Retry-After, or for a stream to end, then send the"
            + " request again.",
        refusal.retryAfterSeconds());
  }
}
