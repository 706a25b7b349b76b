package dev.sluice.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Cluster.Outcome;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** After trouble an endpoint is passed over for a moment, where another can be picked. */
class DoubtTest {
  private final ClusterFixture fixture = new ClusterFixture(2);
  private final LiveEndpoint first = fixture.endpoint(0);
  private final LiveEndpoint second = fixture.endpoint(1);

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"FAILED", "REFUSED"})
  void anEndpointInTroubleIsPassedOverForAQuarterOfASecond(Outcome outcome) {
    fixture.attempt(first, outcome);
    assertThat(fixture.spread(100)).containsExactly(0, 100);
    assertThat(fixture.pickOrNone(second)).isSameAs(first);

    passMillis(249);
    assertThat(fixture.spread(100)).containsExactly(0, 100);
    passMillis(1);
    fixture.cluster.ended(first, Outcome.CANCELLED, 0, fixture.nowNanos);
    assertThat(fixture.spread(100)[0]).isPositive();
  }

  @Test
  void twiceAsLongAfterEachFurtherTrouble() {
    for (long millis : new long[] {250, 500, 1000, 2000, 4000, 5000, 5000}) {
      fixture.attempt(first, Outcome.REFUSED);
      passMillis(millis - 1);
      assertThat(fixture.spread(50)).as("%d ms", millis).containsExactly(0, 50);
      passMillis(1);
      assertThat(fixture.spread(50)[0]).as("%d ms", millis).isPositive();
    }
  }

  @Test
  void anAnswerEndsTheDoubt() {
    fixture.attempt(first, Outcome.REFUSED);
    fixture.attempt(first, Outcome.REFUSED);
    fixture.succeed(first, 1);

    assertThat(fixture.spread(50)[0]).isPositive();
  }

  @Test
  void whereAllAreInTroubleAllArePicked() {
    fixture.attempt(first, Outcome.REFUSED);
    fixture.attempt(second, Outcome.REFUSED);

    assertThat(fixture.spread(50)).doesNotContain(0);
    assertThat(fixture.cluster.untilNextTryNanos(fixture.nowNanos)).isZero();
  }

  private void passMillis(long millis) {
    fixture.nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
