package dev.sluice.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.access.KeyCacheCounts;
import dev.sluice.access.Plan;
import dev.sluice.slots.SlotLease;
import dev.sluice.slots.StreamSlots;
import dev.sluice.upstream.ConnectionCounts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MetersTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void everyNameFollowsThePrometheusConventions() {
    for (Meters meter : Meters.values()) {
      assertThat(meter.prometheusName()).matches("(sluice|gen_ai)(_[a-z]+)+");
      assertThat(meter.prometheusName().endsWith("_total"))
          .as(meter.prometheusName())
          .isEqualTo(meter.type() == Meters.Type.COUNTER);
      if (meter.type() == Meters.Type.HISTOGRAM) {
        assertThat(meter.prometheusName())
            .endsWith(meter.unit().equals("seconds") ? "_seconds" : "_usage");
      }
      assertThat(meter.description()).endsWith(".").doesNotContain("\n", "|");
    }
  }

  @Test
  void everyNameStandsOnce() {
    assertThat(Meters.values()).extracting(Meters::prometheusName).doesNotHaveDuplicates();
  }

  @Test
  void aMeterWithTheWrongNumberOfLabelValuesIsRefused() {
    assertThatThrownBy(() -> Meters.EVENTS.counter(registry, "a", "b"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("sluice_events_total: 2 label values (expected: [model])");
  }

  @Test
  void aMeterOfAnotherTypeIsRefused() {
    assertThatThrownBy(() -> Meters.READY.counter(registry))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("sluice_ready: COUNTER (expected: GAUGE)");
  }

  @Test
  void theTableHasALineForEveryMeter() {
    List<String> lines = Meters.markdown().lines().toList();

    assertThat(lines).hasSize(2 + Meters.values().length);
    assertThat(lines)
        .contains(
            "| `sluice_stream_slots_in_use` | gauge | slots | `plan` | Stream slots of the plan in"
                + " use now. |");
  }

  @Test
  void slotsFollowWhatIsAcquiredAndReleased() {
    Plan plan = new Plan("free", 2, Plan.UNBOUNDED, Set.of(), true);
    StreamSlots slots = new StreamSlots();
    new StateMeters(registry, slots, model -> new ConnectionCounts())
        .follow(List.of(plan), List.of());
    SlotLease lease = Objects.requireNonNull(slots.acquire(plan, "k").lease());

    assertThat(gauge("sluice.stream.slots.in.use")).isEqualTo(1);
    assertThat(gauge("sluice.stream.slots.limit")).isEqualTo(2);
    lease.release();
    assertThat(gauge("sluice.stream.slots.in.use")).isZero();
  }

  @Test
  void eachResultAndStateHasItsMeter() {
    StateMeters.bindKeyCache(registry, new KeyCacheCounts());
    new StateMeters(registry, new StreamSlots(), model -> new ConnectionCounts())
        .follow(List.of(), List.of("small"));

    assertThat(registry.find("sluice.key.cache.total").functionCounters())
        .extracting(counter -> counter.getId().getTag("result"))
        .containsExactlyInAnyOrder("hit", "hit_unknown", "miss", "miss_unknown", "failed");
    assertThat(registry.find("sluice.upstream.connections").gauges())
        .extracting(gauge -> gauge.getId().getTag("state"))
        .containsExactlyInAnyOrder("connecting", "active", "idle");
  }

  @Test
  void theMetersOfPlansAndModelsComeAndGoWithThem() {
    Plan free = new Plan("free", 2, Plan.UNBOUNDED, Set.of(), true);
    Plan pro = new Plan("pro", 9, Plan.UNBOUNDED, Set.of(), true);
    StateMeters meters =
        new StateMeters(registry, new StreamSlots(), model -> new ConnectionCounts());
    meters.follow(List.of(free, pro), List.of("small", "big"));
    Gauge before = registry.get("sluice.stream.slots.limit").tag("plan", "pro").gauge();
    Plan less = new Plan("pro", 3, Plan.UNBOUNDED, Set.of(), true);
    Plan team = new Plan("team", 5, Plan.UNBOUNDED, Set.of(), true);
    meters.follow(List.of(less, team), List.of("big", "new"));

    assertThat(tags("sluice.stream.slots.in.use", "plan")).containsExactlyInAnyOrder("pro", "team");
    assertThat(tags("sluice.stream.slots.limit", "plan")).containsExactlyInAnyOrder("pro", "team");
    assertThat(tags("sluice.upstream.connections", "model")).containsOnly("big", "new").hasSize(6);
    assertThat(registry.get("sluice.stream.slots.limit").tag("plan", "pro").gauge())
        .isSameAs(before);
    assertThat(before.value()).isEqualTo(3);
    meters.follow(List.of(free), List.of());
    assertThat(tags("sluice.stream.slots.limit", "plan")).containsExactly("free");
    assertThat(gauge("sluice.stream.slots.limit")).isEqualTo(2);
    assertThat(tags("sluice.upstream.connections", "model")).isEmpty();
  }

  @Test
  void aPlanThatIsGoneIsToldForAsLongAsItsStreamsRun() {
    Plan plan = new Plan("free", 2, Plan.UNBOUNDED, Set.of(), true);
    StreamSlots slots = new StreamSlots();
    StateMeters meters = new StateMeters(registry, slots, model -> new ConnectionCounts());
    meters.follow(List.of(plan), List.of());
    SlotLease lease = Objects.requireNonNull(slots.acquire(plan, "k").lease());
    meters.follow(List.of(), List.of());

    assertThat(gauge("sluice.stream.slots.in.use")).isEqualTo(1);
    assertThat(gauge("sluice.stream.slots.limit")).isZero();
    lease.release();
    meters.follow(List.of(), List.of());
    assertThat(tags("sluice.stream.slots.in.use", "plan")).isEmpty();
  }

  private List<String> tags(String meter, String tag) {
    return registry.find(meter).gauges().stream()
        .map(gauge -> Objects.requireNonNull(gauge.getId().getTag(tag)))
        .toList();
  }

  @Test
  void aStateIsReadEvenWhereNobodyElseHoldsItsReader() {
    Meters.KEY_CACHE.counter(registry, new Object()::hashCode, "hit");
    Meters.READY.gauge(registry, () -> 1);
    System.gc();

    assertThat(registry.get("sluice.key.cache.total").functionCounter().count()).isNotZero();
    assertThat(gauge("sluice.ready")).isEqualTo(1);
  }

  private double gauge(String name) {
    return registry.get(name).gauge().value();
  }
}
