package dev.sluice.cluster;

import static dev.sluice.cluster.Balance.PREFIX_AFFINITY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.cluster.Cluster.Outcome;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Where requests go that begin alike, in simulated time. */
class PrefixAffinityTest {
  private static final int PREFIXES = 10_000;

  @Test
  void inAQuietClusterAPrefixHasOnePlace() {
    ClusterFixture fixture = cluster(10);
    LiveEndpoint[] places = places(fixture);

    for (int i = 0; i < 3; i++) {
      assertThat(places(fixture)).isEqualTo(places);
    }
  }

  @Test
  void everyProcessPutsAPrefixInTheSamePlace() {
    ClusterFixture fixture = cluster(4);

    StringBuilder places = new StringBuilder();
    for (long prefix = 1; prefix <= 32; prefix++) {
      places.append(place(fixture, prefix));
    }
    assertThat(places.toString()).isEqualTo("dbaaaabbbbabccddddcabbcbabdcdcbb");
  }

  @Test
  void prefixesAreSharedOutByWeight() {
    ClusterFixture fixture = new ClusterFixture(model(3, 1, 1, 5));

    int[] counts = new int[4];
    for (LiveEndpoint place : places(fixture)) {
      counts[fixture.cluster.endpoints().indexOf(place)]++;
    }
    assertThat(counts[0] / (double) PREFIXES).isCloseTo(0.3, within(0.02));
    assertThat(counts[1] / (double) PREFIXES).isCloseTo(0.1, within(0.02));
    assertThat(counts[2] / (double) PREFIXES).isCloseTo(0.1, within(0.02));
    assertThat(counts[3] / (double) PREFIXES).isCloseTo(0.5, within(0.02));
  }

  @Test
  void anEndpointThatLeavesMovesOnlyItsOwnPrefixesAndHasThemBackLater() {
    ClusterFixture fixture = cluster(10);
    LiveEndpoint[] before = places(fixture);
    LiveEndpoint leaving = fixture.endpoint(3);
    fixture.fail(leaving, 5);

    LiveEndpoint[] meanwhile = places(fixture);
    int[] received = new int[10];
    for (int i = 0; i < PREFIXES; i++) {
      if (before[i] == leaving) {
        received[fixture.cluster.endpoints().indexOf(meanwhile[i])]++;
      } else {
        assertThat(meanwhile[i]).isSameAs(before[i]);
      }
    }
    // All others take a part of them.
    assertThat(received[3]).isZero();
    assertThat(Arrays.stream(received).filter(count -> count > 70).count()).isEqualTo(9);

    fixture.pass(5);
    LiveEndpoint[] back = places(fixture);
    for (int i = 0; i < PREFIXES; i++) {
      assertThat(back[i]).isIn(before[i], meanwhile[i]);
    }
    long returned = Arrays.stream(back).filter(leaving::equals).count();
    assertThat((double) returned / PREFIXES).isCloseTo(0.1 / 9.1, within(0.005));
    fixture.pass(30);
    assertThat(places(fixture)).isEqualTo(before);
  }

  @Test
  void underLoadToo() {
    ClusterFixture fixture = cluster(10);
    Traffic traffic = new Traffic(fixture);
    load(fixture, traffic);
    LiveEndpoint[] before = places(fixture);
    LiveEndpoint leaving = fixture.endpoint(3);
    leaving.eject();
    load(fixture, traffic);
    LiveEndpoint[] after = places(fixture);

    int others = 0;
    int moved = 0;
    for (int i = 0; i < PREFIXES; i++) {
      if (before[i] != leaving) {
        others++;
        moved += before[i] == after[i] ? 0 : 1;
      }
    }
    assertThat((double) moved / others).isLessThan(0.05);
  }

  /** Brings 400 streams of prefixes that are all equally frequent. */
  private static void load(ClusterFixture fixture, Traffic traffic) {
    traffic.run(
        300, 10, cluster -> pick(fixture, 1 + fixture.random.nextInt(PREFIXES)), endpoint -> 40);
  }

  @Test
  void noEndpointHoldsMoreThanItsBoundHoweverPrefixesAreSkewed() {
    ClusterFixture fixture = new ClusterFixture(model(1, 2, 1, 4, 1, 1));
    Traffic traffic = new Traffic(fixture);
    int[] first = {0};
    traffic.run(
        600,
        20,
        cluster -> {
          // Half have one prefix; of the rest every second has the next, and so on.
          int prefix = 1 + Integer.numberOfTrailingZeros(fixture.random.nextInt() | 1 << 20);
          LiveEndpoint picked = pick(fixture, prefix);
          int open = cluster.endpoints().stream().mapToInt(LiveEndpoint::openExchanges).sum();
          int weight = picked.endpoint().weight();
          assertThat((double) picked.openExchanges())
              .isLessThanOrEqualTo(Math.ceil(1.25 * open * weight / 10));
          first[0]++;
          return picked;
        },
        endpoint -> 30);

    assertThat(first[0]).isEqualTo(12_000);
    assertThat(traffic.open()).isGreaterThan(400);
  }

  @Test
  void aFullEndpointsPrefixesGoToTheirNextOneAlone() {
    ClusterFixture fixture = cluster(10);
    for (int i = 0; i < 100; i++) {
      pick(fixture, 7);
    }

    // The mean is 10, the bound 13: eight take what one prefix brings.
    long used =
        fixture.cluster.endpoints().stream()
            .filter(endpoint -> endpoint.openExchanges() > 0)
            .count();
    assertThat(used).isEqualTo(8);
  }

  @Test
  void withoutAPrefixTheLeastLoadedIsPicked() {
    ClusterFixture fixture = cluster(2);
    for (int i = 0; i < 100; i++) {
      fixture.pick();
    }

    assertThat(fixture.endpoint(0).openExchanges()).isEqualTo(50);
  }

  @Test
  void whatWasTriedIsNotPickedAgain() {
    ClusterFixture fixture = cluster(3);
    LiveEndpoint first = pick(fixture, 7);
    LiveEndpoint second =
        Objects.requireNonNull(fixture.cluster.pick(7, List.of(first), fixture.nowNanos));
    LiveEndpoint third =
        Objects.requireNonNull(fixture.cluster.pick(7, List.of(first, second), fixture.nowNanos));

    assertThat(List.of(first, second, third)).doesNotHaveDuplicates();
    assertThat(fixture.cluster.pick(7, List.of(first, second, third), fixture.nowNanos)).isNull();
  }

  private static ClusterFixture cluster(int endpoints) {
    int[] weights = new int[endpoints];
    Arrays.fill(weights, 1);
    return new ClusterFixture(model(weights));
  }

  private static Model model(int... weights) {
    return ClusterFixture.model(PREFIX_AFFINITY, null, weights);
  }

  private static LiveEndpoint pick(ClusterFixture fixture, long prefix) {
    return Objects.requireNonNull(fixture.cluster.pick(prefix, List.of(), fixture.nowNanos));
  }

  /** Where the prefix goes; nothing is left open. */
  private static LiveEndpoint place(ClusterFixture fixture, long prefix) {
    LiveEndpoint picked = pick(fixture, prefix);
    fixture.cluster.ended(picked, Outcome.CANCELLED, 0, fixture.nowNanos);
    return picked;
  }

  private static LiveEndpoint[] places(ClusterFixture fixture) {
    LiveEndpoint[] places = new LiveEndpoint[PREFIXES];
    for (int i = 0; i < PREFIXES; i++) {
      places[i] = place(fixture, i + 1);
    }
    return places;
  }
}
