package dev.sluice.lifecycle;

import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Plan;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.pipeline.Edge;
import dev.sluice.pipeline.Maintenance;
import dev.sluice.status.Availability;
import dev.sluice.status.StatusSource;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What the status page tells, of an edge. Safe for all threads. */
final class EdgeStatus implements StatusSource {
  private final Edge edge;
  private final InstantSource clock;

  EdgeStatus(Edge edge, InstantSource clock) {
    this.edge = edge;
    this.clock = clock;
  }

  @Override
  public boolean isStarting() {
    return !edge.isReady() && !edge.isDraining();
  }

  @Override
  public List<ModelStatus> models() {
    long nowNanos = System.nanoTime();
    return edge.catalog().clusters().stream().map(cluster -> status(cluster, nowNanos)).toList();
  }

  private ModelStatus status(Cluster cluster, long nowNanos) {
    String id = cluster.model().id();
    if (!edge.isReady()) {
      return new ModelStatus(id, Availability.UNAVAILABLE, null);
    }
    Maintenance maintenance = edge.maintenance();
    long leftNanos = Math.max(maintenance.leftNanos(id), maintenance.leftNanos(Maintenance.ALL));
    if (leftNanos > 0) {
      return new ModelStatus(id, Availability.MAINTENANCE, end(leftNanos));
    }
    return new ModelStatus(id, ofEndpoints(cluster, nowNanos), null);
  }

  /** Whether a model answers, as far as its endpoints say. */
  static Availability ofEndpoints(Cluster cluster, long nowNanos) {
    List<LiveEndpoint> endpoints = cluster.endpoints();
    long well =
        endpoints.stream()
            .filter(endpoint -> endpoint.state(nowNanos) == LiveEndpoint.State.HEALTHY)
            .filter(endpoint -> !endpoint.isFailing(nowNanos))
            .count();
    return well == 0
        ? Availability.UNAVAILABLE
        : well < endpoints.size() ? Availability.DEGRADED : Availability.AVAILABLE;
  }

  /** To the nearest second: it is the same instant each time that it is told. */
  private Instant end(long leftNanos) {
    return clock.instant().plusNanos(leftNanos).plusMillis(500).truncatedTo(ChronoUnit.SECONDS);
  }

  @Override
  public CompletionStage<Optional<Key>> key(KeyHash hash) {
    return edge.keys().find(hash);
  }

  @Override
  public @Nullable Plan plan(String name) {
    return edge.plan(name);
  }

  @Override
  public int slotsInUse(String plan) {
    return edge.slots().inUse(plan);
  }

  @Override
  public int slotsInUseByKey(String key) {
    return edge.slots().inUseByKey(key);
  }
}
