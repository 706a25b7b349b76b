package dev.sluice.exchange;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An exchange under way, as it was at one instant. Immutable.
 *
 * @param requestId the id in the answer's {@code x-request-id}
 * @param operation the operation's name, or {@link ExchangeSummary#UNKNOWN}
 * @param model the id of a configured model; null where none is known yet
 * @param plan the caller's plan; null where the caller is not known yet
 * @param key the name of the caller's key, never the key; null where the caller is not known yet
 * @param phase how far it is
 * @param stream whether it holds a stream slot
 * @param endpoint the id of the endpoint where it is tried, or was last; null where it was not
 * @param attempts how many endpoints were tried
 * @param startedNanos when its head had come, as {@link System#nanoTime()}
 * @param ageNanos how long ago that was
 * @param bytesIn bytes of the request's body that were read
 * @param bytesOut bytes of the answer that were written, head and framing included
 * @param events server-sent events relayed, comments not counted
 */
public record OpenExchange(
    String requestId,
    String operation,
    @Nullable String model,
    @Nullable String plan,
    @Nullable String key,
    Phase phase,
    boolean stream,
    @Nullable String endpoint,
    int attempts,
    long startedNanos,
    long ageNanos,
    long bytesIn,
    long bytesOut,
    long events) {

  /** How far an exchange is. */
  public enum Phase {
    /** Its request is read and checked. */
    OPEN,
    /** A connection to its endpoint is opened. */
    CONNECTING,
    /** Its request was sent, or is; nothing of an answer was passed on. */
    WAITING,
    /** Its answer is passed on as it comes. */
    ANSWERING,
    /** The last bytes of its answer are on their way to the caller. */
    DELIVERING;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The name in lower case. */
    public String label() {
      return label;
    }
  }
}
