package dev.sluice.cluster;

import static dev.sluice.cluster.Balance.LEAST_EXCHANGES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.cluster.Cluster.Outcome;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where streams go that live for minutes, in simulated time. */
class LeastExchangesTest {
  @Test
  void longStreamsSpreadEvenlyWhereTurnsPileThemUp() {
    assertThat(fullest(null)).isLessThan(1.04);
    assertThat(fullest(new Traffic(new ClusterFixture(10)).roundRobin())).isGreaterThan(1.08);
  }

  /** The fullest of ten endpoints against their mean of 120 streams, the mean of 20 looks. */
  private static double fullest(
      @org.jspecify.annotations.Nullable Function<Cluster, LiveEndpoint> policy) {
    ClusterFixture fixture = new ClusterFixture(10);
    Traffic traffic = new Traffic(fixture);
    Function<Cluster, LiveEndpoint> picking = policy == null ? traffic::byPolicy : policy;
    traffic.run(400, 20, picking, endpoint -> 60);
    double sum = 0;
    for (int i = 0; i < 20; i++) {
      traffic.run(60, 20, picking, endpoint -> 60);
      int most =
          fixture.cluster.endpoints().stream()
              .mapToInt(LiveEndpoint::openExchanges)
              .max()
              .orElseThrow();
      sum += most / (traffic.open() / 10.0);
    }
    return sum / 20;
  }

  @Test
  void anEndpointWhoseStreamsTakeLongerGetsFewer() {
    ClusterFixture fixture = new ClusterFixture(4);
    Traffic traffic = new Traffic(fixture);
    LiveEndpoint slow = fixture.endpoint(0);
    traffic.run(1200, 10, traffic::byPolicy, endpoint -> endpoint == slow ? 120 : 30);

    double mean = traffic.open() / 4.0;
    assertThat((double) slow.openExchanges()).isCloseTo(mean, within(4.0));
  }

  @Test
  void sharesAreAsTheWeights() {
    ClusterFixture fixture =
        new ClusterFixture(ClusterFixture.model(LEAST_EXCHANGES, null, 10, 1, 1, 2, 1, 1));
    Traffic traffic = new Traffic(fixture);
    traffic.run(600, 10, traffic::byPolicy, endpoint -> 64);

    double each = traffic.open() / 16.0;
    assertThat(fixture.endpoint(0).openExchanges() / each).isCloseTo(10, within(0.5));
    assertThat(fixture.endpoint(1).openExchanges() / each).isCloseTo(1, within(0.1));
    assertThat(fixture.endpoint(3).openExchanges() / each).isCloseTo(2, within(0.2));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 10})
  void aQuietClusterUsesAllItsEndpoints(int endpoints) {
    for (int picks : new ClusterFixture(endpoints).spread(10_000)) {
      assertThat((double) picks).isCloseTo(10_000.0 / endpoints, within(300.0));
    }
  }

  @Test
  void anEndpointThatComesBackIsFilledSlowly() {
    ClusterFixture fixture = new ClusterFixture(4);
    LiveEndpoint back = fixture.endpoint(0);
    fixture.fail(back, 5);
    Traffic traffic = new Traffic(fixture);
    traffic.run(5, 300, traffic::byPolicy, endpoint -> 1);
    assertThat(back.openExchanges()).isZero();

    for (int second = 1; second <= 35; second++) {
      traffic.run(1, 300, traffic::byPolicy, endpoint -> 1);
      double others = (traffic.open() - back.openExchanges()) / 3.0;
      double share = Math.min(1, 0.1 + 0.9 * second / 30);
      assertThat(back.openExchanges() / others).as("%d s", second).isCloseTo(share, within(0.1));
    }
    assertThat(back.vitals().condition.isPlain()).isTrue();
  }

  @Test
  void aSlowStartBeginsWithTheFirstPickHoweverLateThatIs() {
    ClusterFixture fixture = new ClusterFixture(2);
    LiveEndpoint back = fixture.endpoint(0);
    back.eject();
    fixture.pass(10_000);
    back.restore();
    fixture.pass(10_000);
    fixture.pick();

    assertThat(back.vitals().condition.share(fixture.nowNanos)).isEqualTo(0.1);
    fixture.pass(10);
    assertThat(back.vitals().condition.share(fixture.nowNanos)).isCloseTo(0.4, within(1e-9));
  }

  @Test
  void anEndpointThatRefusesAtOnceDoesNotGetEverything() {
    ClusterFixture fixture = new ClusterFixture(3);
    LiveEndpoint full = fixture.endpoint(0);
    Traffic traffic = new Traffic(fixture);
    int[] refused = {0};
    Function<Cluster, LiveEndpoint> policy =
        cluster -> {
          LiveEndpoint picked = traffic.byPolicy(cluster);
          while (picked == full) {
            refused[0]++;
            cluster.ended(picked, Outcome.REFUSED, 0, fixture.nowNanos);
            picked = fixture.pick(List.of(full));
          }
          return picked;
        };
    traffic.run(120, 20, policy, endpoint -> 30); // 300 open at each of the others
    refused[0] = 0;
    traffic.run(100, 20, policy, endpoint -> 30);

    // One in 5 s, where it would get two thirds of 2000, with nothing open.
    assertThat(refused[0]).isBetween(15, 25);
  }
}
