package dev.sluice.slots;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReleaseRateTest {
  private static final long START = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(100); // it wraps
  private static final double ALMOST_1 = Math.nextDown(1.0);

  private long nanos = START;
  private final ReleaseRate rate = new ReleaseRate(START);

  private void pass(double seconds) {
    nanos += (long) (seconds * 1e9);
  }

  private void releases(int count, double gapSeconds) {
    for (int i = 0; i < count; i++) {
      pass(gapSeconds);
      rate.released(nanos);
    }
  }

  private int seconds(double random) {
    return rate.secondsUntil(1, nanos, random);
  }

  private void assertSeconds(int least, int most) {
    assertThat(seconds(0)).isEqualTo(least);
    assertThat(seconds(ALMOST_1)).isEqualTo(most);
  }

  @Test
  void nothingSeenYetIsTheLeast() {
    assertSeconds(1, 1);
  }

  @Test
  void nothingSeenYetIsAsLongAsTheSlotsHaveBeenBusy() {
    pass(20);

    assertSeconds(20, 30);
  }

  @ParameterizedTest(name = "one each {0} s: {1} to {2} s")
  @CsvSource({
    "0.001, 1, 1",
    "0.1, 1, 1",
    "0.6, 1, 1",
    "0.8, 1, 2",
    "2, 2, 3",
    "10, 10, 15",
    "30, 30, 45",
    "40, 40, 60",
    "60, 40, 60",
    "86400, 40, 60",
  })
  void aSteadyRateIsToldAsItsGapAndUpToHalfOfIt(double gap, int least, int most) {
    releases(50, gap);

    assertSeconds(least, most);
    pass(gap * 0.9);
    assertSeconds(least, most);
  }

  @Test
  void anUnsteadyRateIsToldNearItsMean() {
    Random random = new Random(7);
    for (int i = 0; i < 1000; i++) {
      releases(1, -5 * Math.log(1 - random.nextDouble()));
      if (i > 50) {
        assertThat(seconds(0)).as("after %d", i).isBetween(2, 40);
      }
    }
  }

  @Test
  void aBurstCountsAndIsForgottenWithTime() {
    releases(20, 10);
    releases(100, 0);
    assertSeconds(1, 1);

    pass(5);
    assertSeconds(5, 8);
    pass(25);
    assertSeconds(30, 45);

    rate.released(nanos);
    assertThat(seconds(0)).as("one gap of 30 s outweighs the burst").isGreaterThan(20);
  }

  @Test
  void aLongSilenceIsForgottenWithAFewReleases() {
    pass(3600);
    rate.released(nanos);
    assertSeconds(40, 60);

    releases(100, 0.1);
    assertSeconds(1, 1);
  }

  @Test
  void aGapThatBeginsWithAFirstStreamDoesNotCountWhatWasBefore() {
    releases(50, 2);
    pass(10_000);
    rate.begin(nanos);
    assertSeconds(2, 3);
    pass(4);
    rate.released(nanos);

    assertSeconds(3, 4); // 2 s, moved by some of the 4 s, none of the 10 000 s
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 1e-9, 0.5, 10, 1e6, 1e9})
  void everyWaitIsWithinOneToSixtySeconds(double gap) {
    releases(3, gap);

    for (double releases : List.of(1.0, 1.5, 1000.0, (double) Integer.MAX_VALUE)) {
      for (double random : List.of(0.0, 0.5, ALMOST_1)) {
        assertThat(rate.secondsUntil(releases, nanos, random)).isBetween(1, 60);
      }
    }
  }

  @Test
  void severalReleasesTakeSeveralGaps() {
    releases(50, 2);

    assertThat(rate.secondsUntil(3, nanos, 0)).isEqualTo(6);
    assertThat(rate.secondsUntil(3, nanos, ALMOST_1)).isEqualTo(9);
  }

  @Test
  void callersWhoAreRefusedTogetherAreSpreadOverHalfTheirWait() {
    releases(50, 20);
    Random random = new Random(11);
    int[] toldBySecond = new int[61];
    for (int i = 0; i < 10_000; i++) {
      toldBySecond[seconds(random.nextDouble())]++;
    }

    Set<Integer> told = new HashSet<>();
    for (int second = 0; second < toldBySecond.length; second++) {
      if (toldBySecond[second] > 0) {
        told.add(second);
      }
      assertThat(toldBySecond[second]).as("%d s", second).isLessThan(1200);
    }
    assertThat(told).contains(21, 22, 23, 24, 25, 26, 27, 28, 29, 30).hasSizeLessThanOrEqualTo(11);
  }

  @Test
  void aClockThatAnotherThreadReadLaterIsNoGap() {
    releases(1, 1);
    rate.released(nanos - 1000);

    assertSeconds(1, 2);
  }

  @Test
  void simultaneousReleasesLoseNoGap() throws Exception {
    int threads = 4;
    int rounds = 20_000;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < 20; round++) {
        ReleaseRate shared = new ReleaseRate(0);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
          tasks.add(
              () -> {
                for (int i = 1; i <= rounds; i++) {
                  shared.released(i * 2_000_000_000L);
                }
                return null;
              });
        }
        for (Future<Void> done : executor.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
          done.get();
        }
        // Four releases each 2 s in lock-step; without it, gaps back and forth of any length.
        assertThat(shared.secondsUntil(1, rounds * 2_000_000_000L, 0)).isBetween(1, 40);
        for (int i = rounds + 1; i <= rounds + 200; i++) {
          shared.released(i * 2_000_000_000L);
        }
        assertThat(shared.secondsUntil(1, (rounds + 200) * 2_000_000_000L, 0)).isBetween(2, 3);
      }
    } finally {
      executor.shutdownNow();
    }
  }
}
