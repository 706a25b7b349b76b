package dev.sluice.http;

import java.time.Duration;

/**
 * Bounds on what a downstream connection may send, and in what time.
 *
 * <table>
 *   <caption>Limits</caption>
 *   <tr><th>name</th><th>default</th><th>past it</th></tr>
 *   <tr><td>maxRequestLineBytes</td><td>8 KiB</td><td>414, connection closed</td></tr>
 *   <tr><td>maxHeaderBytes</td><td>32 KiB, all header lines together</td><td>431, connection closed</td></tr>
 *   <tr><td>maxHeaderCount</td><td>100 lines</td><td>431, connection closed</td></tr>
 *   <tr><td>maxBodyBytes</td><td>32 MiB</td><td>413</td></tr>
 *   <tr><td>maxConnections</td><td>10 000</td><td>503, connection closed</td></tr>
 *   <tr><td>maxExchanges</td><td>10 000</td><td>503</td></tr>
 *   <tr><td>headTimeout</td><td>10 s for a whole request head</td><td>408, connection closed</td></tr>
 *   <tr><td>bodyTimeout</td><td>60 s for a whole request body</td><td>408, connection closed</td></tr>
 *   <tr><td>keepAliveTimeout</td><td>75 s without a request</td><td>connection closed</td></tr>
 * </table>
 *
 * @param maxRequestLineBytes most bytes of a request line, without its line end
 * @param maxHeaderBytes most bytes of all header lines of one head
 * @param maxHeaderCount most header lines of one head
 * @param maxBodyBytes most bytes of a request body, chunk framing not counted
 * @param maxConnections most downstream connections open at once
 * @param maxExchanges most exchanges under way at once
 * @param headTimeout longest time for a whole request head; a trickle of bytes does not renew it
 * @param bodyTimeout longest time for a whole request body, from the end of its head
 * @param keepAliveTimeout longest time that a connection stays open between two requests
 */
public record HttpLimits(
    int maxRequestLineBytes,
    int maxHeaderBytes,
    int maxHeaderCount,
    int maxBodyBytes,
    int maxConnections,
    int maxExchanges,
    Duration headTimeout,
    Duration bodyTimeout,
    Duration keepAliveTimeout) {

  /** The limits of the table above. */
  public static final HttpLimits DEFAULT =
      new HttpLimits(
          8 << 10,
          32 << 10,
          100,
          32 << 20,
          10_000,
          10_000,
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          Duration.ofSeconds(75));

  /** Refuses limits that are zero or negative. */
  public HttpLimits {
    positive("maxRequestLineBytes", maxRequestLineBytes);
    positive("maxHeaderBytes", maxHeaderBytes);
    positive("maxHeaderCount", maxHeaderCount);
    positive("maxBodyBytes", maxBodyBytes);
    positive("maxConnections", maxConnections);
    positive("maxExchanges", maxExchanges);
    positive("headTimeout", headTimeout.toNanos());
    positive("bodyTimeout", bodyTimeout.toNanos());
    positive("keepAliveTimeout", keepAliveTimeout.toNanos());
  }

  private static void positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
    }
  }
}
