package dev.sluice.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Retries under way are a fifth of what is open, and always three. */
class RetryBudgetTest {
  @ParameterizedTest
  @CsvSource({"0, 3", "1, 3", "19, 3", "20, 4", "24, 4", "25, 5", "1000, 200"})
  void soManyRetriesMayBeUnderWay(int open, int most) {
    ClusterFixture fixture = new ClusterFixture(3);
    for (int i = 0; i < open; i++) {
      fixture.pick();
    }

    for (int i = 0; i < most; i++) {
      assertThat(fixture.cluster.tryBeginRetry()).isTrue();
    }
    assertThat(fixture.cluster.tryBeginRetry()).isFalse();
    fixture.cluster.endRetry();
    assertThat(fixture.cluster.tryBeginRetry()).isTrue();
    assertThat(fixture.cluster.tryBeginRetry()).isFalse();
  }

  @Test
  void aReloadForgetsNoRetry() {
    ClusterFixture fixture = new ClusterFixture(2);
    Cluster before = fixture.cluster;
    before.tryBeginRetry();
    before.tryBeginRetry();
    fixture.reload(ClusterFixture.model(Balance.LEAST_EXCHANGES, null, 1, 1, 1));

    assertThat(fixture.cluster.tryBeginRetry()).isTrue();
    assertThat(fixture.cluster.tryBeginRetry()).isFalse();
    before.endRetry();
    assertThat(fixture.cluster.tryBeginRetry()).isTrue();
  }
}
