package dev.sluice.status;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What is kept of a day, and for how long. */
class DayTest {
  private final Day day = new Day();

  @Test
  void aBucketIsFiveMinutesOfWallTime() {
    assertThat(Day.bucket(299)).isZero();
    assertThat(Day.bucket(300)).isEqualTo(1);
    assertThat(Day.bucket(-1)).isEqualTo(-1);
    assertThat(Day.BUCKETS).isEqualTo(288);
  }

  @Test
  void nothingWasSeenAtFirst() {
    assertThat(day.letters(1000)).isEqualTo("-".repeat(288));
    assertThat(day.permilleAnswered(1000)).isEqualTo(-1);
  }

  @Test
  void aBucketShowsTheWorstOfIt() {
    day.see(10, Availability.UNAVAILABLE);
    day.see(10, Availability.AVAILABLE);
    day.see(11, Availability.MAINTENANCE);
    day.see(11, Availability.DEGRADED);
    day.see(12, Availability.AVAILABLE);
    day.see(12, Availability.DEGRADED);
    day.see(13, Availability.AVAILABLE);

    assertThat(day.letters(13)).isEqualTo("-".repeat(284) + "umda");
  }

  @Test
  void whatNobodySawIsAGap() {
    day.see(10, Availability.AVAILABLE);
    day.see(13, Availability.AVAILABLE);

    assertThat(day.letters(14)).endsWith("a--a-");
  }

  @Test
  void whatIsOlderThanADayIsForgotten() {
    day.see(0, Availability.UNAVAILABLE);
    day.see(287, Availability.AVAILABLE);
    assertThat(day.letters(287)).isEqualTo("u" + "-".repeat(286) + "a");

    day.see(288, Availability.DEGRADED);
    assertThat(day.letters(288)).isEqualTo("-".repeat(286) + "ad");
    assertThat(day.permilleAnswered(288)).isEqualTo(1000);
  }

  @Test
  void aDayWithoutALookLeavesNothing() {
    day.see(5, Availability.UNAVAILABLE);

    assertThat(day.letters(5 + 288)).isEqualTo("-".repeat(288));
    day.see(100_000, Availability.AVAILABLE);
    assertThat(day.letters(100_000)).isEqualTo("-".repeat(287) + "a");
  }

  @Test
  void aClockThatGoesBackCountsInTheNewestBucket() {
    day.see(10, Availability.AVAILABLE);
    day.see(9, Availability.UNAVAILABLE);

    assertThat(day.letters(10)).isEqualTo("-".repeat(287) + "u");
    assertThat(day.letters(9)).isEqualTo("-".repeat(288));
  }

  @Test
  void maintenanceCountsForNeitherAndTheRestIsRoundedDown() {
    for (int i = 0; i < 1999; i++) {
      day.see(1, Availability.AVAILABLE);
    }
    day.see(1, Availability.UNAVAILABLE);
    assertThat(day.permilleAnswered(1)).isEqualTo(999);

    day.see(1, Availability.MAINTENANCE);
    day.see(2, Availability.DEGRADED);
    assertThat(day.permilleAnswered(2)).isEqualTo(999);
    assertThat(day.permilleAnswered(289)).isEqualTo(1000);
  }

  @Test
  void maintenanceAloneSaysNothingOfAnswers() {
    day.see(1, Availability.MAINTENANCE);

    assertThat(day.permilleAnswered(1)).isEqualTo(-1);
  }
}
