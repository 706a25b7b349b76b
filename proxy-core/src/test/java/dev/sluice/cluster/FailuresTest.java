package dev.sluice.cluster;

import static dev.sluice.cluster.LiveEndpoint.State.EJECTED;
import static dev.sluice.cluster.LiveEndpoint.State.HEALTHY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Cluster.Outcome;
import dev.sluice.cluster.LiveEndpoint.Cause;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Attempts that fail eject their endpoint, and time brings it back. */
class FailuresTest {
  private final ClusterFixture fixture = new ClusterFixture(2);
  private final LiveEndpoint first = fixture.endpoint(0);
  private final LiveEndpoint second = fixture.endpoint(1);

  @Test
  void fiveFailuresInARowEjectForFiveSeconds() {
    fixture.fail(first, 4);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);

    fixture.fail(first, 1);
    assertThat(fixture.state(first)).isEqualTo(EJECTED);
    fixture.nowNanos += Health.FIRST_EJECTION_NANOS - 1;
    assertThat(fixture.state(first)).isEqualTo(EJECTED);
    assertThat(fixture.spread(100)).containsExactly(0, 100);
    fixture.nowNanos += 1;
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
    assertThat(fixture.pickOrNone(second)).isSameAs(first);
    assertThat(first.ejections(Cause.CONSECUTIVE_FAILURES)).isEqualTo(1);
  }

  @Test
  void anAnswerBetweenThemBeginsTheRowAnew() {
    for (int i = 0; i < 3; i++) {
      fixture.fail(first, 4);
      fixture.succeed(first, 1);
      fixture.pass(10); // lest the rate counts
    }

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
  }

  @Test
  void theFirstEventOfAStreamCountsAsAnAnswer() {
    fixture.fail(first, 4);
    LiveEndpoint picked = fixture.pick(List.of(second));
    fixture.cluster.answering(picked, fixture.nowNanos);
    fixture.fail(first, 4);

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
    fixture.cluster.ended(picked, Outcome.CANCELLED, 0, fixture.nowNanos);
    fixture.fail(first, 1);
    assertThat(fixture.state(first)).isEqualTo(EJECTED);
  }

  @Test
  void callersWhoLeaveAndRefusalsSayNothing() {
    fixture.fail(first, 4);
    fixture.attempt(first, Outcome.CANCELLED);
    for (int i = 0; i < 100; i++) {
      fixture.attempt(first, Outcome.REFUSED);
    }
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);

    fixture.fail(first, 1); // the fifth in a row
    assertThat(fixture.state(first)).isEqualTo(EJECTED);
  }

  @Test
  void halfOfTwentyOutcomesWithinTenSecondsEject() {
    for (int i = 0; i < 9; i++) {
      fixture.succeed(first, 1);
      fixture.fail(first, 1);
      fixture.pass(1);
    }
    fixture.succeed(first, 1);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);

    fixture.fail(first, 1); // 10 of 20
    assertThat(fixture.state(first)).isEqualTo(EJECTED);
    assertThat(first.ejections(Cause.FAILURE_RATE)).isEqualTo(1);
    assertThat(first.ejections(Cause.CONSECUTIVE_FAILURES)).isZero();
  }

  @Test
  void lessThanHalfDoNot() {
    for (int i = 0; i < 200; i++) {
      fixture.succeed(first, 2);
      fixture.fail(first, 1);
    }

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
  }

  @Test
  void outcomesOfTenSecondsAgoDoNotCount() {
    for (int i = 0; i < 100; i++) {
      fixture.succeed(first, 1);
      fixture.fail(first, 1);
      fixture.succeed(first, 1);
      fixture.fail(first, 1);
      fixture.pass(3); // no more than 16 within 10 s
    }

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
  }

  @Test
  void oneFailureOnProbationEjectsForTwiceAsLongAndSoOn() {
    for (long seconds : new long[] {5, 10, 20, 40, 80, 160, 300, 300, 300}) {
      fixture.fail(first, first.ejections(Cause.CONSECUTIVE_FAILURES) == 0 ? 5 : 1);
      fixture.pass(seconds - 1);
      assertThat(fixture.state(first)).as("%d s", seconds).isEqualTo(EJECTED);
      fixture.pass(1);
      assertThat(fixture.state(first)).as("%d s", seconds).isEqualTo(HEALTHY);
    }
    assertThat(first.ejections(Cause.CONSECUTIVE_FAILURES)).isEqualTo(9);
  }

  @Test
  void theFirstAnswerEndsTheProbation() {
    fixture.ejectAndWait(first, 5);
    fixture.succeed(first, 1);
    fixture.fail(first, 4);

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
    fixture.fail(first, 1);
    fixture.pass(9);
    assertThat(fixture.state(first)).isEqualTo(EJECTED); // but its ejections are remembered: 10 s
  }

  @Test
  void refusalsAndCallersWhoLeaveDoNotEndTheProbation() {
    fixture.ejectAndWait(first, 5);
    fixture.attempt(first, Outcome.REFUSED);
    fixture.attempt(first, Outcome.CANCELLED);
    fixture.fail(first, 1);

    assertThat(fixture.state(first)).isEqualTo(EJECTED);
  }

  @Test
  void eachMinuteOfDoingWellForgetsOneEjection() {
    fixture.ejectAndWait(first, 5);
    fixture.ejectAndWait(first, 10);
    fixture.ejectAndWait(first, 20);
    fixture.succeed(first, 1);
    fixture.pass(125);

    fixture.ejectAndWait(first, 10); // three, two of them forgotten: as after one
    fixture.pass(1000); // nothing answered: nothing forgotten
    fixture.ejectAndWait(first, 20);
    fixture.succeed(first, 1);
    fixture.pass(10_000);
    fixture.ejectAndWait(first, 5);
  }

  @Test
  void whatEndsWhileItIsEjectedSaysNothing() {
    fixture.fail(first, 5);
    fixture.fail(first, 500); // a hundred streams were open when it died
    fixture.succeed(first, 1);
    fixture.pass(5);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);

    fixture.fail(first, 1); // still on probation
    fixture.pass(9);
    assertThat(fixture.state(first)).isEqualTo(EJECTED);
    fixture.pass(1);
    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
  }

  @Test
  void outcomesFromBeforeTheEjectionDoNotCountAfterIt() {
    fixture.succeed(first, 19);
    fixture.fail(first, 5);
    fixture.pass(5);
    fixture.succeed(first, 1);
    fixture.fail(first, 4);

    assertThat(fixture.state(first)).isEqualTo(HEALTHY);
  }
}
