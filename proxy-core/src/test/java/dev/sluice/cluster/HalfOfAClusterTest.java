package dev.sluice.cluster;

import static dev.sluice.cluster.LiveEndpoint.State.EJECTED;
import static dev.sluice.cluster.LiveEndpoint.State.HEALTHY;
import static dev.sluice.cluster.LiveEndpoint.State.OUT;
import static dev.sluice.cluster.LiveEndpoint.State.SET_ASIDE;
import static dev.sluice.cluster.LiveEndpoint.State.UNWELL;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Failures and Retry-After never leave more than half of a cluster out. */
class HalfOfAClusterTest {
  @ParameterizedTest
  @CsvSource({"1, 0", "2, 1", "3, 1", "4, 2", "5, 2", "8, 4"})
  void whateverFailsNoMoreThanHalfIsEjected(int endpoints, int most) {
    ClusterFixture fixture = new ClusterFixture(endpoints);
    fixture.cluster.endpoints().forEach(endpoint -> fixture.fail(endpoint, 50));

    assertThat(fixture.states()).filteredOn(EJECTED::equals).hasSize(most);
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "2, 1", "3, 1", "4, 2"})
  void whateverAsksForTimeNoMoreThanHalfGetsIt(int endpoints, int most) {
    ClusterFixture fixture = new ClusterFixture(endpoints);
    fixture.cluster.endpoints().forEach(endpoint -> fixture.refuse(endpoint, 60));

    assertThat(fixture.states()).filteredOn(SET_ASIDE::equals).hasSize(most);
    assertThat(fixture.cluster.untilNextTryNanos(fixture.nowNanos)).isZero();
  }

  @Test
  void theBoundCountsWhatIsLeftOutForAnotherReason() {
    ClusterFixture fixture =
        new ClusterFixture(
            ClusterFixture.model(Balance.LEAST_EXCHANGES, Probe.DEFAULT, 1, 1, 1, 1));
    fixture.endpoint(0).eject();
    for (int i = 0; i < Probe.DEFAULT.unhealthyAfter(); i++) {
      fixture.cluster.probed(fixture.endpoint(1), "no answer", fixture.nowNanos);
    }
    fixture.fail(fixture.endpoint(2), 50);
    fixture.refuse(fixture.endpoint(3), 60);

    assertThat(fixture.states()).containsExactly(OUT, UNWELL, HEALTHY, HEALTHY);
    fixture.endpoint(0).restore();
    fixture.fail(fixture.endpoint(2), 1);
    assertThat(fixture.states()).containsExactly(HEALTHY, UNWELL, EJECTED, HEALTHY);
  }

  @Test
  void probesAndOperatorsAreNotBound() {
    ClusterFixture fixture =
        new ClusterFixture(ClusterFixture.model(Balance.LEAST_EXCHANGES, Probe.DEFAULT, 1, 1));
    fixture.endpoint(0).eject();
    for (int i = 0; i < Probe.DEFAULT.unhealthyAfter(); i++) {
      fixture.cluster.probed(fixture.endpoint(1), "no answer", fixture.nowNanos);
    }

    assertThat(fixture.states()).containsExactly(OUT, UNWELL);
    assertThat(fixture.pickOrNone()).isNull();
  }

  @Test
  void anEndpointThatMayNotBeEjectedIsAsSoonAsAnotherIsBack() {
    ClusterFixture fixture = new ClusterFixture(2);
    fixture.fail(fixture.endpoint(0), 5);
    fixture.fail(fixture.endpoint(1), 50);
    assertThat(fixture.states()).containsExactly(EJECTED, HEALTHY);

    fixture.pass(5);
    fixture.fail(fixture.endpoint(1), 1);
    assertThat(fixture.states()).containsExactly(HEALTHY, EJECTED);
  }

  @Test
  void aReloadThatTakesTheOthersAwayBringsTheFirstOfThemBack() {
    ClusterFixture fixture = new ClusterFixture(5);
    fixture.fail(fixture.endpoint(0), 5);
    fixture.refuse(fixture.endpoint(1), 60);
    fixture.reload(ClusterFixture.model(Balance.LEAST_EXCHANGES, null, 1, 1));

    assertThat(fixture.states()).containsExactly(EJECTED, SET_ASIDE);
    assertThat(fixture.pickOrNone()).isSameAs(fixture.endpoint(0));
    assertThat(fixture.states()).containsExactly(HEALTHY, SET_ASIDE);
    assertThat(fixture.pickOrNone(fixture.endpoint(0))).isNull();
  }

  @Test
  void itDoesNotWhereOthersAreOutByProbesOrOperators() {
    ClusterFixture fixture = new ClusterFixture(2);
    fixture.fail(fixture.endpoint(0), 5);
    fixture.endpoint(1).eject();

    assertThat(fixture.pickOrNone()).isNull();
    assertThat(fixture.states()).containsExactly(EJECTED, OUT);
  }
}
