package dev.sluice.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Usage;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What failed lately, and for how long that is told. */
class RecentFailuresTest {
  private long nowNanos = Long.MAX_VALUE - 10; // clocks overflow
  private final RecentFailures failures = new RecentFailures(() -> nowNanos);

  private void fail(@Nullable Reason reason) {
    failures.ended(
        new ExchangeSummary(
            0,
            "req_x",
            TraceContext.begin(0),
            "messages",
            null,
            null,
            null,
            200,
            reason,
            false,
            0,
            0,
            0,
            Usage.NONE,
            0,
            0,
            null,
            0,
            List.of(),
            null,
            false,
            End.DONE));
  }

  private void pass(Duration time) {
    nowNanos += time.toNanos();
  }

  @Test
  void whatDidNotFailIsNotCountedNorWhatIsTheCallersFault() {
    fail(null);
    fail(Reason.KEY_UNKNOWN);
    fail(Reason.SLOTS_OF_PLAN);
    fail(Reason.UPSTREAM_REFUSED);

    assertThat(failures.counts()).isEmpty();
  }

  @Test
  void failuresAreCountedByReason() {
    fail(Reason.UPSTREAM_CONNECT);
    fail(Reason.INTERNAL);
    pass(Duration.ofMinutes(1));
    fail(Reason.UPSTREAM_CONNECT);

    assertThat(failures.counts())
        .containsOnlyKeys(Reason.UPSTREAM_CONNECT, Reason.INTERNAL)
        .containsEntry(Reason.UPSTREAM_CONNECT, 2)
        .containsEntry(Reason.INTERNAL, 1);
  }

  @Test
  void aFailureIsToldForFourToFiveMinutes() {
    pass(Duration.ofSeconds(59));
    fail(Reason.UPSTREAM_CONNECT);
    pass(Duration.ofMinutes(4));
    assertThat(failures.counts()).containsEntry(Reason.UPSTREAM_CONNECT, 1);
    pass(Duration.ofSeconds(1));
    assertThat(failures.counts()).isEmpty();
  }

  @Test
  void aMinuteIsUsedAgainAfterFive() {
    fail(Reason.UPSTREAM_CONNECT);
    pass(Duration.ofMinutes(RecentFailures.MINUTES));
    fail(Reason.UPSTREAM_STATUS);

    assertThat(failures.counts())
        .containsOnlyKeys(Reason.UPSTREAM_STATUS)
        .containsEntry(Reason.UPSTREAM_STATUS, 1);
    pass(Duration.ofHours(100));
    assertThat(failures.counts()).isEmpty();
  }
}
