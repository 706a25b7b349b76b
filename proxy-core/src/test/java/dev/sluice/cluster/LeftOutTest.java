package dev.sluice.cluster;

import static dev.sluice.cluster.LiveEndpoint.State.EJECTED;
import static dev.sluice.cluster.LiveEndpoint.State.HEALTHY;
import static dev.sluice.cluster.LiveEndpoint.State.OUT;
import static dev.sluice.cluster.LiveEndpoint.State.SET_ASIDE;
import static dev.sluice.cluster.LiveEndpoint.State.UNWELL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.LiveEndpoint.Cause;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What leaves an endpoint out beside failures: Retry-After, probes, an operator; and the waits. */
class LeftOutTest {
  private static final Probe PROBE =
      new Probe("/health", Duration.ofSeconds(5), Duration.ofSeconds(2), 2, 3);

  private final ClusterFixture fixture =
      new ClusterFixture(ClusterFixture.model(Balance.LEAST_EXCHANGES, PROBE, 1, 1));
  private final LiveEndpoint first = fixture.endpoint(0);
  private final LiveEndpoint second = fixture.endpoint(1);

  // Retry-After.

  @Test
  void anUpstreamThatAsksForTimeGetsIt() {
    fixture.refuse(first, 17);

    assertThat(fixture.state(first)).isEqualTo(SET_ASIDE);
    assertThat(fixture.spread(50)).containsExactly(0, 50);
    fixture.pass(16);
    assertThat(fixture.state(first)).isEqualTo(SET_ASIDE);
    fixture.pass(1);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
    assertThat(first.ejections(Cause.RETRY_AFTER)).isEqualTo(1);
  }

  @Test
  void ofSeveralTheLatestTimeHoldsAndOneIsCounted() {
    fixture.refuse(first, 10);
    fixture.refuse(first, 20);
    fixture.refuse(first, 5);

    fixture.pass(19);
    assertThat(fixture.state(first)).isEqualTo(SET_ASIDE);
    fixture.pass(1);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
    assertThat(first.ejections(Cause.RETRY_AFTER)).isEqualTo(1);
  }

  @Test
  void noUpstreamGetsMoreThanAnHour() {
    fixture.refuse(first, 1_000_000);
    fixture.pass(3600);

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
  }

  @Test
  void anEjectedOneThatAsksForTimeGetsThatToo() {
    fixture.fail(first, 5);
    fixture.refuse(first, 60);
    fixture.pass(59);

    assertThat(fixture.state(first)).isEqualTo(SET_ASIDE);
    assertThat(fixture.pickOrNone(second)).isNull();
  }

  // Probes.

  @Test
  void threeBadProbesInARowLeaveOutAndTwoGoodOnesBringBack() {
    assertThat(fixture.state(first)).isEqualTo(HEALTHY); // before the first probe
    bad(first, 2);
    good(first, 1);
    bad(first, 2);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
    bad(first, 1);
    assertThat(fixture.state(first)).isEqualTo(UNWELL);
    bad(first, 10);
    good(first, 1);
    bad(first, 1);
    good(first, 1);
    fixture.pass(100_000);
    assertThat(fixture.state(first)).isEqualTo(UNWELL);
    good(first, 1);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
    assertThat(first.ejections(Cause.PROBE)).isEqualTo(1);
    assertThat(first.probes(true)).isEqualTo(4);
    assertThat(first.probes(false)).isEqualTo(16);
  }

  @Test
  void aGoodProbeDoesNotEndAnEjection() {
    fixture.fail(first, 5);
    good(first, 10);

    assertThat(fixture.state(first)).isEqualTo(EJECTED);
  }

  @Test
  void anEndpointThatIsProbedNoLongerIsUsed() {
    bad(first, 3);
    fixture.cluster.notProbed(first);

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
  }

  // Operators.

  @Test
  void anOperatorTakesOutUntilHeRestores() {
    first.eject();
    first.eject();
    fixture.pass(1_000_000);
    assertThat(fixture.state(first)).isEqualTo(OUT);
    assertThat(fixture.pickOrNone(second)).isNull();
    assertThat(first.ejections(Cause.OPERATOR)).isEqualTo(1);

    first.restore();
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
  }

  @Test
  void whatIsKnownAgainstAnEndpointIsForgottenWhenItIsRestored() {
    fixture.ejectAndWait(first, 5);
    fixture.fail(first, 1);
    fixture.refuse(first, 60);
    bad(first, 3);
    first.restore();

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
    bad(first, 2);
    fixture.fail(first, 4);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY); // neither probation nor old probes
    fixture.ejectAndWait(first, 5);
  }

  @Test
  void restoringAnEndpointThatIsUsedDoesNotSlowItDown() {
    first.restore();

    assertThat(first.vitals().condition.isPlain()).isTrue();
  }

  // How long until one may be used.

  @Test
  void noWaitWhileOneMayBeUsed() {
    fixture.fail(first, 5);

    assertThat(waitSeconds()).isZero();
  }

  @Test
  void theWaitIsThatOfTheFirstWhoComesBack() {
    fixture.fail(first, 5);
    second.eject();
    assertThat(waitSeconds()).isEqualTo(5);
    fixture.pass(3);
    assertThat(waitSeconds()).isEqualTo(2);
    fixture.refuse(first, 30);
    assertThat(waitSeconds()).isEqualTo(30);
    assertThat(fixture.pickOrNone()).isNull();
    fixture.pass(30);
    assertThat(waitSeconds()).isZero();
    assertThat(fixture.pickOrNone()).isSameAs(first);
  }

  @Test
  void theWaitForProbesIsThatOfTheProbesThatAreMissing() {
    second.eject();
    bad(first, 3);
    assertThat(waitSeconds()).isEqualTo(10);
    fixture.pass(4);
    assertThat(waitSeconds()).isEqualTo(6);
    fixture.pass(1);
    good(first, 1);
    assertThat(waitSeconds()).isEqualTo(5);
    fixture.pass(7); // the probe is under way
    assertThat(fixture.cluster.untilNextTryNanos(fixture.nowNanos)).isEqualTo(1);
  }

  @Test
  void nobodyKnowsTheWaitWhereAllAreOutByAnOperator() {
    first.eject();
    second.eject();

    assertThat(fixture.cluster.untilNextTryNanos(fixture.nowNanos)).isEqualTo(-1);
  }

  private long waitSeconds() {
    long nanos = fixture.cluster.untilNextTryNanos(fixture.nowNanos);
    assertThat(nanos % TimeUnit.SECONDS.toNanos(1)).isZero();
    return TimeUnit.NANOSECONDS.toSeconds(nanos);
  }

  private void bad(LiveEndpoint endpoint, int times) {
    for (int i = 0; i < times; i++) {
      fixture.cluster.probed(endpoint, "status 500", fixture.nowNanos);
    }
  }

  private void good(LiveEndpoint endpoint, int times) {
    for (int i = 0; i < times; i++) {
      fixture.cluster.probed(endpoint, null, fixture.nowNanos);
    }
  }
}
