package dev.sluice.cluster;

import java.time.Duration;

/**
 * How long an exchange waits for a model's upstream.
 *
 * @param connect to a connection, TLS included; then 503
 * @param firstByte from the connection to the first byte of an answer's body; then 502
 * @param idle between two reads of a body under way; then the answer is broken off
 */
public record Timeouts(Duration connect, Duration firstByte, Duration idle) {
  /**
   * 5 s to connect, 5 min to a first byte (a long answer may be one byte until then), 5 min idle.
   */
  public static final Timeouts DEFAULT =
      new Timeouts(Duration.ofSeconds(5), Duration.ofMinutes(5), Duration.ofMinutes(5));

  /** Refuses times that are zero or negative. */
  public Timeouts {
    positive("connect", connect);
    positive("firstByte", firstByte);
    positive("idle", idle);
  }

  private static void positive(String name, Duration value) {
    if (value.isZero() || value.isNegative()) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
    }
  }
}
