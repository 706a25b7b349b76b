package dev.sluice.load;

import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What came of a load. Histograms are in nanoseconds and hold what was asked within the window.
 *
 * @param asked requests whose time was within the window
 * @param answered answers that ended within the window
 * @param events events that came within the window
 * @param openStreams streams that were open at the window's end
 * @param failures how many requests of the window failed, by how
 * @param answerNanos from when a request was due to the end of its answer
 * @param firstByteNanos from when a request was due to the first byte of its answer's body
 * @param relayNanos from when an event was due at the upstream to its arrival
 * @param lateNanos from when a request was due to when it was sent or began to wait: what the
 *     generator itself was late by
 */
public record LoadReport(
    long asked,
    long answered,
    long events,
    int openStreams,
    Map<Failure, Long> failures,
    Histogram answerNanos,
    Histogram firstByteNanos,
    Histogram relayNanos,
    Histogram lateNanos) {

  /** How a request can fail. */
  public enum Failure {
    /** No connection could be made. */
    CONNECT,
    /** The answer's status was not 200. */
    STATUS,
    /** The answer was no message that can be read. */
    MALFORMED,
    /** The connection ended before the answer did. */
    CLOSED,
    /** The answer ended in order, but events or the stream's terminator were missing. */
    SHORT,
    /** The answer had not ended some seconds after the window. */
    UNFINISHED
  }

  /** How many requests of the window failed. */
  public long failed() {
    return failures.values().stream().mapToLong(Long::longValue).sum();
  }
}
