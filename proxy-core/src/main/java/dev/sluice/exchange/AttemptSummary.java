package dev.sluice.exchange;

import dev.sluice.cluster.Endpoint;
import dev.sluice.error.Reason;
import org.jspecify.annotations.Nullable;

/**
 * What is known of an attempt when it has ended.
 *
 * @param endpoint where it was made
 * @param spanId its span, which the upstream was told as its parent
 * @param startedNanos from the exchange's head to its begin
 * @param durationNanos from its begin to its end
 * @param status the status that the upstream answered; 0 where it answered none
 * @param reason why it failed; null where it did not
 */
public record AttemptSummary(
    Endpoint endpoint,
    long spanId,
    long startedNanos,
    long durationNanos,
    int status,
    @Nullable Reason reason) {}
