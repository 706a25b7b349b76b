package dev.sluice.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LoadTest {
  private static final AskedAnswer STREAM = new AskedAnswer(50, 20, 200);

  @Test
  void aWarmUpAsksForShortAnswersAsOftenAsAJvmNeeds() {
    assertThat(Load.requests(200, 500).warmingUpFor(10_000))
        .isEqualTo(Load.requests(4_000, 500).measuredFor(10_000));
  }

  @Test
  void aWarmUpIsNeverSlowerThanItsLoad() {
    assertThat(Load.requests(8_000, 500).warmingUpFor(1_000).perSecond()).isEqualTo(8_000);
    assertThat(Load.requests(600, 64).withImage(1_000_000).warmingUpFor(1_000).perSecond())
        .isEqualTo(600);
  }

  @Test
  void aWarmUpWithLargeBodiesIsBoundedByTheirBytes() {
    assertThat(Load.requests(60, 0).withImage(1_000_000).warmingUpFor(1_000).perSecond())
        .isEqualTo(500);
  }

  @Test
  void aWarmUpBeginsNoMoreStreamsThanItsLoad() {
    Load streams = Load.streams(250, STREAM);
    assertThat(streams.warmingUpFor(1_000)).isEqualTo(streams.measuredFor(1_000));
    Load held = Load.held(100, 10, 200);
    assertThat(held.warmingUpFor(1_000)).isEqualTo(held.measuredFor(1_000));
  }
}
