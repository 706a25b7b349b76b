package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What counts as progress: whole events of a stream, and any byte of another answer. */
class StreamProgressTest {
  private static final String CHUNKED = "transfer-encoding: chunked";
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "6\r\n: hi\n\n\r\n", // a comment
        "1\r\n\n\r\n", // an empty line
        "1\r\n:\r\n", // a comment under way
      })
  void untilTheFirstEventTheFirstByteDeadlineGoesOn(String chunk) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head(CHUNKED));
      for (int minute = 0; minute < 5; minute++) {
        fixture.upstream().answer(chunk);
        assertThat(fixture.summaries).isEmpty();
        fixture.pass(MINUTE);
      }

      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_FIRST_BYTE_TIMEOUT);
      assertThat(fixture.summary().end()).isEqualTo(End.DONE);
      assertThat(fixture.budget.heldBytes()).isZero();
    }
  }

  @Test
  void anEventThatTricklesInIsNoEvent() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head(CHUNKED));
      for (int minute = 0; minute < 5; minute++) {
        fixture.upstream().answer("5\r\ndata:\r\n");
        fixture.pass(MINUTE);
      }

      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_FIRST_BYTE_TIMEOUT);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"6\r\n: hi\n\n\r\n", "1\r\n\n\r\n", "1\r\n:\r\n", "5\r\ndata:\r\n"})
  void betweenEventsNothingButAnEventIsProgress(String chunk) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.pass(4 * MINUTE);
      fixture.upstream().answer(SseWire.head(CHUNKED) + "9\r\ndata: 1\n\n\r\n");
      for (int minute = 0; minute < 4; minute++) {
        fixture.pass(MINUTE);
        fixture.upstream().answer(chunk);
      }
      fixture.pass(MINUTE - 1);
      assertThat(fixture.summaries).isEmpty();
      fixture.pass(1);

      assertThat(fixture.caller.answer().status()).isEqualTo(200);
      assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.BETWEEN_CHUNKS);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_IDLE_TIMEOUT);
      assertThat(fixture.summary().end()).isEqualTo(End.TIMEOUT);
    }
  }

  @Test
  void eachEventGivesTheUpstreamItsTimeAnew() {
    for (boolean http11 : new boolean[] {true, false}) {
      try (ExchangeFixture fixture =
          ExchangeFixture.of(Operation.CHAT_COMPLETIONS, true, http11).forward()) {
        fixture.upstream().answer(SseWire.head(CHUNKED));
        for (int event = 0; event < 10; event++) {
          fixture.pass(4 * MINUTE);
          fixture.upstream().answer("9\r\ndata: 1\n\n\r\n");
        }
        fixture.pass(5 * MINUTE - 1);
        assertThat(fixture.summaries).isEmpty();
        fixture.pass(1);

        assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_IDLE_TIMEOUT);
      }
    }
  }

  @Test
  void whileTheUpstreamIsNotReadItsTimeStandsStill() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head(CHUNKED) + "9\r\ndata: 1\n\n\r\n");
      fixture.pass(4 * MINUTE);
      fixture.caller.unsent(40_000);
      fixture.pass(4 * MINUTE);
      fixture.caller.unsent(0);
      fixture.pass(4 * MINUTE);
      assertThat(fixture.summaries).isEmpty();
      assertThat(fixture.caller.aborted).isFalse();

      fixture.upstream().answer("d\r\ndata:[DONE]\n\n\r\n0\r\n\r\n");
      assertThat(fixture.summary().end()).isEqualTo(End.DONE);
    }
  }

  @Test
  void ofAnotherAnswerEachByteIsProgress() {
    try (ExchangeFixture fixture =
        ExchangeFixture.of(Operation.CHAT_COMPLETIONS, false, true).forward()) {
      fixture
          .upstream()
          .answer(
              "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n");
      for (int i = 0; i < 10; i++) {
        fixture.pass(4 * MINUTE);
        assertThat(fixture.summaries).isEmpty();
        fixture.upstream().answer(" ");
      }
      fixture.pass(5 * MINUTE);

      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_IDLE_TIMEOUT);
    }
  }
}
