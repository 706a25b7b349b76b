package dev.sluice.telemetry;

import dev.sluice.access.KeyCacheCounts;
import dev.sluice.access.Plan;
import dev.sluice.slots.StreamSlots;
import dev.sluice.upstream.ConnectionCounts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The meters that read a state kept elsewhere whenever they are scraped. Those of plans and models
 * come and go with the configuration. One thread at a time.
 */
public final class StateMeters {
  private final MeterRegistry registry;
  private final StreamSlots slots;
  private final Function<String, ConnectionCounts> connections;
  private volatile Map<String, Integer> limits = Map.of();
  private Map<String, List<Gauge>> ofPlans = Map.of();
  private Map<String, List<Gauge>> ofModels = Map.of();

  /**
   * None yet.
   *
   * @param connections gives, for a model's id, its upstream connections
   */
  public StateMeters(
      MeterRegistry registry, StreamSlots slots, Function<String, ConnectionCounts> connections) {
    this.registry = registry;
    this.slots = slots;
    this.connections = connections;
  }

  /**
   * Has the meters of these plans, and of the models with these ids, and no other, from now on. A
   * plan that is gone keeps its own, with limit 0, until a call finds none of its streams running.
   */
  public void follow(Collection<Plan> plans, Collection<String> models) {
    limits = plans.stream().collect(Collectors.toUnmodifiableMap(Plan::name, Plan::streams));
    Stream<String> running = ofPlans.keySet().stream().filter(plan -> slots.inUse(plan) > 0);
    ofPlans =
        follow(
            ofPlans,
            Stream.concat(plans.stream().map(Plan::name), running).distinct(),
            this::bindPlan);
    ofModels = follow(ofModels, models.stream(), this::bindModel);
  }

  private Map<String, List<Gauge>> follow(
      Map<String, List<Gauge>> bound, Stream<String> names, Function<String, List<Gauge>> bind) {
    Map<String, List<Gauge>> gone = new HashMap<>(bound);
    Map<String, List<Gauge>> kept = new HashMap<>();
    names.forEach(
        name -> {
          List<Gauge> before = gone.remove(name);
          kept.put(name, before == null ? bind.apply(name) : before);
        });
    gone.values().forEach(gauges -> gauges.forEach(registry::remove));
    return kept;
  }

  private List<Gauge> bindPlan(String plan) {
    return List.of(
        Meters.STREAM_SLOTS_IN_USE.gauge(registry, () -> slots.inUse(plan), plan),
        Meters.STREAM_SLOTS_LIMIT.gauge(registry, () -> limits.getOrDefault(plan, 0), plan));
  }

  private List<Gauge> bindModel(String model) {
    ConnectionCounts counts = connections.apply(model);
    return Arrays.stream(ConnectionCounts.State.values())
        .map(
            state ->
                Meters.UPSTREAM_CONNECTIONS.gauge(
                    registry, () -> counts.count(state), model, label(state)))
        .toList();
  }

  /** Look-ups of keys, by result. */
  public static void bindKeyCache(MeterRegistry registry, KeyCacheCounts counts) {
    for (KeyCacheCounts.Result result : KeyCacheCounts.Result.values()) {
      Meters.KEY_CACHE.counter(registry, () -> counts.count(result), label(result));
    }
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
