package dev.sluice.cluster;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long an exchange waits for a model's upstream.
 *
 * @param connect to a connection, TLS included; then 503
 * @param firstByte from the connection to the first event of a stream, or the first byte of another
 *     answer's body; then 502
 * @param idle between two events of a stream, comments not counted, or two reads of another
 *     answer's body; then the answer is broken off
 * @param total the whole exchange, from its head to its last byte; then it is broken off. Null for
 *     no bound: long streams are normal
 */
public record Timeouts(
    Duration connect, Duration firstByte, Duration idle, @Nullable Duration total) {
  /**
   * 5 s to connect, 5 min to a first byte (a long answer may be one byte until then), 5 min idle,
   * no bound on the whole.
   */
  public static final Timeouts DEFAULT =
      new Timeouts(Duration.ofSeconds(5), Duration.ofMinutes(5), Duration.ofMinutes(5), null);

  /** Refuses times that are zero or negative. */
  public Timeouts {
    positive("connect", connect);
    positive("firstByte", firstByte);
    positive("idle", idle);
    if (total != null) {
      positive("total", total);
    }
  }

  static void positive(String name, Duration value) {
    if (value.isZero() || value.isNegative()) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
    }
  }
}
