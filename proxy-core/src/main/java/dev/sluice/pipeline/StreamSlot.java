package dev.sluice.pipeline;

import dev.sluice.access.Plan;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import dev.sluice.slots.SlotLease;
import dev.sluice.slots.StreamSlots;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/**
 * A streaming request takes one slot of its plan, and of its key: 429 where all are in use. It is
 * not started then; running streams go on. The exchange gives the slot back.
 */
@Sharable
final class StreamSlot extends Rule {
  /** When a stream will end nobody knows; the shortest honest wait. */
  private static final int RETRY_AFTER_SECONDS = 1;

  private final StreamSlots slots;

  StreamSlot(StreamSlots slots) {
    this.slots = slots;
  }

  @Override
  @Nullable Failure check(ChannelHandlerContext ctx, Exchange exchange) {
    if (!exchange.facts().stream()) {
      return null;
    }
    Plan plan = exchange.plan();
    StreamSlots.Outcome outcome = slots.acquire(plan, exchange.key().name());
    SlotLease lease = outcome.lease();
    if (lease != null) {
      exchange.hold(lease);
      return null;
    }
    boolean ofKey = outcome.refusal() == StreamSlots.Refusal.KEY;
    return ofKey
        ? busy(Reason.SLOTS_OF_KEY, "streams of this API key", plan.streamsPerKey())
        : busy(Reason.SLOTS_OF_PLAN, "stream slots of the plan", plan.streams());
  }

  private static Failure busy(Reason reason, String what, int limit) {
    return Failure.retryAfter(
        reason,
        "All "
            + limit
            + " "
            + what
            + " are in use. Send the request again when a stream has ended.",
        RETRY_AFTER_SECONDS);
  }
}
