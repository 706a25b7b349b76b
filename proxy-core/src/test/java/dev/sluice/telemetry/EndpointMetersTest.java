package dev.sluice.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Catalog;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Probe;
import dev.sluice.cluster.Timeouts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The meters of endpoints, whose configuration changes. */
class EndpointMetersTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final EndpointMeters meters = new EndpointMeters(registry, () -> 0);

  @Test
  void theyShowLoadHealthAndWhatLeftAnEndpointOut() {
    Catalog catalog = catalog(null, Probe.DEFAULT, "a", "b");
    meters.follow(catalog);
    Cluster cluster = catalog.clusters().get(0);
    LiveEndpoint first = cluster.endpoints().get(0);
    LiveEndpoint second = cluster.endpoints().get(1);
    Objects.requireNonNull(cluster.pick(Cluster.NO_PREFIX, List.of(second), 0));
    cluster.probed(first, null, 0);
    cluster.probed(first, "status 500", 0);
    second.eject();

    assertThat(gauge("sluice.endpoint.exchanges", "a")).isEqualTo(1);
    assertThat(gauge("sluice.endpoint.exchanges", "b")).isZero();
    assertThat(gauge("sluice.endpoint.up", "a")).isEqualTo(1);
    assertThat(gauge("sluice.endpoint.up", "b")).isZero();
    assertThat(counter("sluice.endpoint.ejections.total", "b", "cause", "operator")).isEqualTo(1);
    assertThat(counter("sluice.endpoint.ejections.total", "b", "cause", "probe")).isZero();
    assertThat(counter("sluice.probes.total", "a", "result", "ok")).isEqualTo(1);
    assertThat(counter("sluice.probes.total", "a", "result", "failed")).isEqualTo(1);
  }

  @Test
  void theyComeAndGoWithTheConfiguration() {
    Catalog before = catalog(null, Probe.DEFAULT, "a", "b");
    meters.follow(before);
    before.clusters().get(0).endpoints().get(1).eject();
    Catalog after = catalog(before, null, "b", "c");
    meters.follow(after);

    assertThat(registry.find("sluice.endpoint.up").gauges())
        .extracting(gauge -> gauge.getId().getTag("endpoint"))
        .containsExactlyInAnyOrder("b:8000", "c:8000");
    assertThat(gauge("sluice.endpoint.up", "b")).isZero();
    assertThat(counter("sluice.endpoint.ejections.total", "b", "cause", "operator")).isEqualTo(1);
    assertThat(registry.find("sluice.probes.total").meters()).isEmpty();
    meters.follow(new Catalog(List.of()));
    assertThat(registry.getMeters()).isEmpty();
  }

  private double gauge(String name, String host) {
    return registry.get(name).tags("model", "small", "endpoint", host + ":8000").gauge().value();
  }

  private double counter(String name, String host, String label, String value) {
    return registry
        .get(name)
        .tags("model", "small", "endpoint", host + ":8000", label, value)
        .functionCounter()
        .count();
  }

  private static Catalog catalog(@Nullable Catalog before, @Nullable Probe probe, String... hosts) {
    Model model =
        new Model(
            "small",
            null,
            Arrays.stream(hosts).map(host -> new Endpoint(host, 8000, false, "", null)).toList(),
            Timeouts.DEFAULT,
            Balance.LEAST_EXCHANGES,
            Model.DEFAULT_ATTEMPTS,
            probe,
            "acme",
            Instant.EPOCH);
    return new Catalog(List.of(model), before);
  }
}
