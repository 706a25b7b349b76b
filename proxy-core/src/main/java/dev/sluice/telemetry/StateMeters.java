package dev.sluice.telemetry;

import dev.sluice.access.KeyCacheCounts;
import dev.sluice.access.Plan;
import dev.sluice.slots.StreamSlots;
import dev.sluice.upstream.ConnectionCounts;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;

/** Registers the meters that read a state kept elsewhere whenever they are scraped. */
public final class StateMeters {
  private StateMeters() {}

  /** Slots in use and their limit, for each of these plans. */
  public static void bindSlots(MeterRegistry registry, StreamSlots slots, Collection<Plan> plans) {
    for (Plan plan : plans) {
      String name = plan.name();
      Meters.STREAM_SLOTS_IN_USE.gauge(registry, () -> slots.inUse(name), name);
      Meters.STREAM_SLOTS_LIMIT.gauge(registry, () -> slots.limit(name), name);
    }
  }

  /** Look-ups of keys, by result. */
  public static void bindKeyCache(MeterRegistry registry, KeyCacheCounts counts) {
    for (KeyCacheCounts.Result result : KeyCacheCounts.Result.values()) {
      Meters.KEY_CACHE.counter(registry, () -> counts.count(result), label(result));
    }
  }

  /** Connections to the endpoints of each model, by state; counts by the model's id. */
  public static void bindUpstreamConnections(
      MeterRegistry registry, Map<String, ConnectionCounts> countsByModel) {
    countsByModel.forEach(
        (model, counts) -> {
          for (ConnectionCounts.State state : ConnectionCounts.State.values()) {
            Meters.UPSTREAM_CONNECTIONS.gauge(
                registry, () -> counts.count(state), model, label(state));
          }
        });
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
