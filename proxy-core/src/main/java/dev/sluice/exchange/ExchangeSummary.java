package dev.sluice.exchange;

import dev.sluice.cluster.Endpoint;
import dev.sluice.error.Reason;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of an exchange when it has ended. Metrics and the access log derive from it alone.
 *
 * @param startedMillis when its head had come, in milliseconds since the epoch
 * @param requestId the id in the answer's {@code x-request-id}
 * @param trace the trace that it belongs to
 * @param operation the operation's name, or {@link #UNKNOWN}
 * @param model the id of a configured model; null where none was named, or an unknown one
 * @param plan the caller's plan; null where the caller is not known
 * @param key the name of the caller's key, never the key; null where the caller is not known
 * @param status the status that was answered; 0 where the client left before one was
 * @param reason why it failed; null where it did not
 * @param stream whether it took a stream slot
 * @param bytesIn bytes of the request's body that were read, without chunk framing
 * @param bytesOut bytes of the answer that were written, head and framing included
 * @param events server-sent events relayed, comments not counted
 * @param usage the tokens that the upstream says it took, as far as that was seen
 * @param firstByteNanos from its head to the first byte of the answer; -1 where none was sent
 * @param durationNanos from its head to its end
 * @param endpoint where it was last tried; null where it was not
 * @param attempts how many endpoints were tried
 * @param traced its attempts, in order, where its trace is sampled; else empty
 * @param retried why the attempt before the last failed; null where there was one at most
 * @param retryDenied whether a further attempt was not made for want of retry budget
 * @param end how it ended
 */
public record ExchangeSummary(
    long startedMillis,
    String requestId,
    TraceContext trace,
    String operation,
    @Nullable String model,
    @Nullable String plan,
    @Nullable String key,
    int status,
    @Nullable Reason reason,
    boolean stream,
    long bytesIn,
    long bytesOut,
    long events,
    Usage usage,
    long firstByteNanos,
    long durationNanos,
    @Nullable Endpoint endpoint,
    int attempts,
    List<AttemptSummary> traced,
    @Nullable Reason retried,
    boolean retryDenied,
    End end) {

  /** The name of an operation, model or plan that is not configured. */
  public static final String UNKNOWN = "unknown";
}
