package dev.sluice.cluster;

import java.time.Duration;

/**
 * How the endpoints of a model are asked whether they are well: {@code GET} a path, well with a
 * status of 2xx in time.
 *
 * @param path the path, behind the endpoint's base path
 * @param interval from the end of one probe of an endpoint to the next
 * @param timeout how long a probe may take, connecting included
 * @param healthyAfter how many probes in a row must go well before an endpoint that was unwell is
 *     used again; at least 1
 * @param unhealthyAfter how many in a row must fail before it is used no longer; at least 1
 */
public record Probe(
    String path, Duration interval, Duration timeout, int healthyAfter, int unhealthyAfter) {
  /** {@code GET /health} every 5 s, 2 s to answer; 2 good ones to come back, 3 bad ones to go. */
  public static final Probe DEFAULT =
      new Probe("/health", Duration.ofSeconds(5), Duration.ofSeconds(2), 2, 3);

  /** Refuses a path that does not begin with a slash, and what is not positive. */
  public Probe {
    if (!path.startsWith("/")) {
      throw new IllegalArgumentException("path: " + path + " (expected: /…)");
    }
    Timeouts.positive("interval", interval);
    Timeouts.positive("timeout", timeout);
    if (healthyAfter < 1 || unhealthyAfter < 1) {
      throw new IllegalArgumentException(
          "healthyAfter, unhealthyAfter: "
              + healthyAfter
              + ", "
              + unhealthyAfter
              + " (expected: >= 1)");
    }
  }
}
