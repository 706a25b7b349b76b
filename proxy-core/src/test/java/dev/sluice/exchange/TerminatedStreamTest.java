package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import dev.sluice.upstream.ConnectionCounts.State;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A caller who has its stream's terminator has all of it, and is told of nothing behind it. */
class TerminatedStreamTest {

  /** What may happen behind a terminator instead of the end of its framing. */
  private enum Then {
    CLOSED,
    RESET,
    SILENT,
    SHUT_DOWN,
    FAULT,
    WITHIN_AN_EVENT,
    NO_CHUNK;

    void happens(ExchangeFixture fixture) {
      switch (this) {
        case CLOSED -> fixture.upstream().close();
        case RESET -> fixture.upstream().reset();
        case SILENT -> fixture.pass(Duration.ofMinutes(5).toNanos());
        case SHUT_DOWN -> fixture.exchange.shutdown();
        case FAULT -> fixture.exchange.fault(new IllegalStateException("made to fail"));
        case WITHIN_AN_EVENT -> {
          fixture.upstream().answer("5\r\ndata:\r\n");
          fixture.upstream().reset();
        }
        case NO_CHUNK -> fixture.upstream().answer("x");
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void whateverHappensBehindItTheAnswerIsWhole(Then then) {
    for (Operation operation : Operation.BUILT_IN) {
      for (boolean http11 : new boolean[] {true, false}) {
        String events = "data: 1\n\n" + SseWire.terminator(operation, "\n");
        try (ExchangeFixture fixture = ExchangeFixture.of(operation, true, http11).forward()) {
          fixture
              .upstream()
              .answer(
                  SseWire.head("transfer-encoding: chunked") + SseWire.chunks(events, List.of()));
          assertThat(fixture.summaries).isEmpty();
          then.happens(fixture);

          assertThat(fixture.caller.answer().body()).isEqualTo(events);
          assertThat(fixture.caller.answer().end())
              .isEqualTo(http11 ? Answer.End.WHOLE : Answer.End.OPEN);
          assertThat(fixture.caller.keepsAlive).isEqualTo(http11 && then != Then.SHUT_DOWN);
          assertThat(fixture.summary().end()).isEqualTo(End.DONE);
          assertThat(fixture.summary().reason()).isNull();
          assertThat(fixture.summary().events()).isEqualTo(2);
          assertThat(fixture.upstream().isActive()).isFalse();
          assertNothingHeld(fixture);
        }
      }
    }
  }

  @Test
  void itsEventMustHaveComeWholeForThat() {
    for (String came : List.of("data: [DONE]", "data: [DONE]\n")) {
      try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
        fixture
            .upstream()
            .answer(
                SseWire.head("transfer-encoding: chunked")
                    + SseWire.chunks("data: 1\n\n" + came, List.of(9)));
        fixture.upstream().close();

        assertThat(fixture.caller.answer().body()).startsWith("data: 1\n\ndata: {\"error\":");
        assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.BETWEEN_CHUNKS);
        assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_CLOSED);
        assertNothingHeld(fixture);
      }
    }
  }

  @Test
  void whatIsLeftOfItsChunkIsFilledWithEmptyLines() {
    String events = "data: 1\n\ndata: [DONE]\n\n";
    for (int left : new int[] {0, 1, 2, 100, 64 << 10}) {
      try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
        String size = Integer.toHexString(events.length() + left);
        fixture
            .upstream()
            .answer(SseWire.head("transfer-encoding: chunked") + size + "\r\n" + events);
        fixture.upstream().close();

        assertThat(fixture.caller.answer().body()).isEqualTo(events + "\n".repeat(left));
        assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
        assertThat(fixture.summary().end()).isEqualTo(End.DONE);
        assertNothingHeld(fixture);
      }
    }
  }

  @Test
  void whereTooMuchIsLeftTheFramingBreaksOffWithoutAnErrorEvent() {
    String events = "data: 1\n\ndata: [DONE]\n\n";
    for (long left : new long[] {(64 << 10) + 1, 1L << 40}) {
      try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
        String size = Long.toHexString(events.length() + left);
        fixture
            .upstream()
            .answer(SseWire.head("transfer-encoding: chunked") + size + "\r\n" + events);
        fixture.upstream().close();

        assertThat(fixture.caller.take()).endsWith("\r\n" + events);
        assertThat(fixture.caller.keepsAlive).isFalse();
        assertThat(fixture.summary().end()).isEqualTo(End.UPSTREAM);
        assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_CLOSED);
        assertNothingHeld(fixture);
      }
    }
  }

  @Test
  void aSlowCallerIsGivenTheEndToo() {
    try (ExchangeFixture fixture = ExchangeFixture.stream()) {
      fixture.caller.slow = true;
      fixture.forward();
      fixture
          .upstream()
          .answer(SseWire.head("transfer-encoding: chunked") + "d\r\ndata:[DONE]\n\n\r\n");
      fixture.upstream().reset();
      assertThat(fixture.slots.inUse("free")).isZero();
      assertThat(fixture.summaries).isEmpty();

      fixture.caller.deliver(true);
      assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
      assertThat(fixture.summary().end()).isEqualTo(End.DONE);
      assertNothingHeld(fixture);
    }
  }

  private static void assertNothingHeld(ExchangeFixture fixture) {
    assertThat(fixture.slots.inUse("free")).isZero();
    assertThat(fixture.budget.heldBytes()).isZero();
    assertThat(fixture.caller.exchangesEnded).isEqualTo(1);
    assertThat(fixture.connections.count(State.ACTIVE)).isZero();
    assertThat(fixture.connections.count(State.CONNECTING)).isZero();
  }
}
