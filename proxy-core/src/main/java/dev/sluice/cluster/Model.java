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
 * @param ownedBy {@code owned_by} of the model list
 * @param created {@code created} of the model list
 */
public record Model(
    String id,
    @Nullable String upstreamModel,
    List<Endpoint> endpoints,
    Timeouts timeouts,
    String ownedBy,
    Instant created) {

  /** Copies the list and refuses an empty one. */
  public Model {
    endpoints = List.copyOf(endpoints);
    if (endpoints.isEmpty()) {
      throw new IllegalArgumentException("endpoints: none (expected: at least one)");
    }
  }
}
