package dev.sluice.telemetry;

import dev.sluice.cluster.Catalog;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.LiveEndpoint.Cause;
import dev.sluice.cluster.LiveEndpoint.State;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The meters of the endpoints, which come and go with the configuration. Calls are made by one
 * thread at a time.
 */
public final class EndpointMeters {
  private final MeterRegistry registry;
  private final LongSupplier nanoTime;
  private final List<Meter> registered = new ArrayList<>();

  /**
   * No meters yet.
   *
   * @param nanoTime the clock of the clusters, as {@link System#nanoTime()}
   */
  public EndpointMeters(MeterRegistry registry, LongSupplier nanoTime) {
    this.registry = registry;
    this.nanoTime = nanoTime;
  }

  /** Has meters of this catalog's endpoints, and no others. Not while somebody scrapes. */
  public void follow(Catalog catalog) {
    registered.forEach(registry::remove);
    registered.clear();
    for (Cluster cluster : catalog.clusters()) {
      for (LiveEndpoint endpoint : cluster.endpoints()) {
        register(cluster, endpoint);
      }
    }
  }

  private void register(Cluster cluster, LiveEndpoint endpoint) {
    String model = cluster.model().id();
    String id = endpoint.id();
    registered.add(Meters.ENDPOINT_EXCHANGES.gauge(registry, endpoint::openExchanges, model, id));
    registered.add(Meters.ENDPOINT_UP.gauge(registry, () -> up(endpoint), model, id));
    for (Cause cause : Cause.values()) {
      registered.add(
          Meters.ENDPOINT_EJECTIONS.counter(
              registry, () -> endpoint.ejections(cause), model, id, cause.label()));
    }
    if (cluster.model().probe() != null) {
      registered.add(Meters.PROBES.counter(registry, () -> endpoint.probes(true), model, id, "ok"));
      registered.add(
          Meters.PROBES.counter(registry, () -> endpoint.probes(false), model, id, "failed"));
    }
  }

  private int up(LiveEndpoint endpoint) {
    return endpoint.state(nanoTime.getAsLong()) == State.HEALTHY ? 1 : 0;
  }
}
