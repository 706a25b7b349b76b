package dev.sluice.cluster;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One configured model and where it is served.
 *
 * @param id the id that callers use
 * @param upstreamModel the name that the upstream knows; null where it is the id
 * @param endpoints where it is served; at least one
 * @param timeouts how long to wait for it
 * @param balance how an endpoint is picked
 * @param attempts how many endpoints one exchange may try; at least 1
 * @param probe how the endpoints are asked whether they are well; null where they are not asked
 * @param ownedBy {@code owned_by} of the model list
 * @param created {@code created} of the model list
 */
public record Model(
    String id,
    @Nullable String upstreamModel,
    List<Endpoint> endpoints,
    Timeouts timeouts,
    Balance balance,
    int attempts,
    @Nullable Probe probe,
    String ownedBy,
    Instant created) {

  /** How many endpoints an exchange may try where the configuration does not say. */
  public static final int DEFAULT_ATTEMPTS = 2;

  /** Copies the list; refuses an empty one, and no attempt. */
  public Model {
    endpoints = List.copyOf(endpoints);
    if (endpoints.isEmpty()) {
      throw new IllegalArgumentException("endpoints: none (expected: at least one)");
    }
    if (attempts < 1) {
      throw new IllegalArgumentException("attempts: " + attempts + " (expected: >= 1)");
    }
  }
}
