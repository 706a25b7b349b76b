package dev.sluice.lifecycle;

import dev.sluice.admin.Operations;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.exchange.OpenExchange;
import dev.sluice.pipeline.Edge;
import dev.sluice.pipeline.Maintenance;
import dev.sluice.telemetry.Meters;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What operators see and change, at an edge. Safe for all threads. */
final class EdgeOperations implements Operations {
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Edge edge;
  private final Supplier<Duration> shutdownGrace;
  private final MeterRegistry registry;
  private final Problems problems;
  private final ReloadLog reloads;
  private final Set<String> metered = ConcurrentHashMap.newKeySet();

  /**
   * The operations of an edge, with their meters.
   *
   * @param shutdownGrace the configured grace period, as it is now
   */
  EdgeOperations(
      Edge edge,
      Supplier<Duration> shutdownGrace,
      MeterRegistry registry,
      Problems problems,
      ReloadLog reloads) {
    this.edge = edge;
    this.shutdownGrace = shutdownGrace;
    this.registry = registry;
    this.problems = problems;
    this.reloads = reloads;
    meter(Maintenance.ALL);
    Meters.DRAINING.gauge(registry, () -> edge.isDraining() ? 1 : 0);
    Meters.EXCHANGES_OPEN.gauge(registry, edge::openExchanges);
  }

  /** A model has its meter from its first maintenance on. */
  private void meter(String model) {
    if (metered.add(model)) {
      Maintenance maintenance = edge.maintenance();
      Meters.MAINTENANCE_REMAINING.gauge(
          registry, () -> maintenance.remainingSeconds(model), model);
    }
  }

  @Override
  public List<String> models() {
    return edge.catalog().models().stream().map(Model::id).toList();
  }

  @Override
  public Map<String, Long> maintenance() {
    return edge.maintenance().remainingSeconds();
  }

  @Override
  public void maintain(String model, Duration length) {
    edge.maintenance().set(model, length.toNanos());
    meter(model);
  }

  @Override
  public DrainReport drain() {
    boolean draining = edge.isDraining();
    long left = draining ? edge.drainLeftNanos() : 0;
    return new DrainReport(draining, seconds(left), edge.openExchanges(), edge.openStreams());
  }

  @Override
  public void drain(@Nullable Duration deadline) {
    if (deadline != null) {
      edge.drain(deadline.toNanos());
    } else if (!edge.isDraining()) {
      edge.drain(shutdownGrace.get().toNanos());
    }
  }

  @Override
  public List<EndpointReport> endpoints() {
    List<EndpointReport> reports = new ArrayList<>();
    long nowNanos = System.nanoTime();
    for (String model : models()) {
      for (LiveEndpoint endpoint : endpointsOf(model)) {
        reports.add(report(model, endpoint, nowNanos));
      }
    }
    return reports;
  }

  private static EndpointReport report(String model, LiveEndpoint endpoint, long nowNanos) {
    LiveEndpoint.State state = endpoint.state(nowNanos);
    Long waitSeconds =
        switch (state) {
          case HEALTHY -> 0L;
          case EJECTED, SET_ASIDE -> seconds(endpoint.timeLeftNanos(nowNanos));
          case UNWELL, OUT -> null;
        };
    return new EndpointReport(
        model,
        endpoint.id(),
        state.name().toLowerCase(Locale.ROOT),
        waitSeconds,
        endpoint.isFailing(nowNanos),
        endpoint.openExchanges(),
        endpoint.endpoint().weight());
  }

  /** Rounded up. */
  static long seconds(long nanos) {
    return (nanos + SECOND_NANOS - 1) / SECOND_NANOS;
  }

  @Override
  public List<Problem> problems() {
    return problems.find();
  }

  @Override
  public Overview overview() {
    return new Overview(
        edge.openExchanges(),
        edge.limits().maxExchanges(),
        edge.openStreams(),
        edge.downstreamConnections(),
        edge.limits().maxConnections(),
        edge.budget().heldBytes(),
        edge.budget().limitBytes(),
        edge.plans().stream()
            .map(
                plan ->
                    new PlanReport(plan.name(), edge.slots().inUse(plan.name()), plan.streams()))
            .sorted(Comparator.comparing(PlanReport::name))
            .toList());
  }

  @Override
  public CompletionStage<List<OpenExchange>> oldestExchanges(int most) {
    return edge.oldestExchanges(most);
  }

  @Override
  public List<ReloadReport> reloads() {
    return reloads.newestFirst();
  }

  @Override
  public void eject(String model, String endpoint) {
    at(model, endpoint, LiveEndpoint::eject);
  }

  @Override
  public void restore(String model, String endpoint) {
    at(model, endpoint, LiveEndpoint::restore);
  }

  private void at(String model, String id, Consumer<LiveEndpoint> change) {
    endpointsOf(model).stream().filter(one -> one.id().equals(id)).forEach(change);
  }

  private List<LiveEndpoint> endpointsOf(String model) {
    Cluster cluster = edge.catalog().find(model);
    return cluster == null ? List.of() : cluster.endpoints();
  }
}
