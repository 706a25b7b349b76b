package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What an answer says of stream slots: to streaming requests alone, and never an upstream's word.
 */
class SlotHeadersTest {
  private static final String THEIRS =
      "X-RateLimit-Limit-Streams: 100\r\nx-ratelimit-remaining-streams: 99";

  private static void assertSaysItsSlots(Answer answer) {
    assertThat(answer.head().lines().filter(line -> line.contains("ratelimit")))
        .containsExactlyInAnyOrder(
            "x-ratelimit-limit-streams: 2", "x-ratelimit-remaining-streams: 1");
  }

  private static void assertSaysNothing(Answer answer) {
    assertThat(answer.head()).doesNotContainIgnoringCase("ratelimit");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRelayedStreamSaysThem(boolean http11) {
    try (ExchangeFixture fixture =
        ExchangeFixture.of(Operation.CHAT_COMPLETIONS, true, http11).forward()) {
      fixture
          .upstream()
          .answer(
              SseWire.head(THEIRS, "transfer-encoding: chunked")
                  + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");

      assertThat(fixture.caller.answer().status()).isEqualTo(200);
      assertSaysItsSlots(fixture.caller.answer());
    }
  }

  @ParameterizedTest
  @CsvSource({"400, 400", "413, 413", "429, 503", "500, 502", "503, 503"})
  void anErrorAfterTheSlotWasTakenSaysThemToo(int theirs, int ours) {
    for (boolean stream : new boolean[] {true, false}) {
      try (ExchangeFixture fixture =
          ExchangeFixture.of(Operation.MESSAGES, stream, true).forward()) {
        fixture
            .upstream()
            .answer(
                "HTTP/1.1 "
                    + theirs
                    + " X\r\n"
                    + THEIRS
                    + "\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
        fixture.inspect();

        assertThat(fixture.caller.answer().status()).isEqualTo(ours);
        if (stream) {
          assertSaysItsSlots(fixture.caller.answer());
        } else {
          assertSaysNothing(fixture.caller.answer());
        }
      }
    }
  }

  @Test
  void anAnswerWithoutAnUpstreamSaysThemToo() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.exchange.shutdown();

      assertThat(fixture.caller.answer().status()).isEqualTo(503);
      assertSaysItsSlots(fixture.caller.answer());
    }
  }

  @Test
  void anAnswerThatIsNoStreamSaysNothingNotEvenWhatItsUpstreamSaid() {
    try (ExchangeFixture fixture =
        ExchangeFixture.of(Operation.CHAT_COMPLETIONS, false, true).forward()) {
      fixture
          .upstream()
          .answer(
              "HTTP/1.1 200 OK\r\n"
                  + THEIRS
                  + "\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
      fixture.inspect();

      assertThat(fixture.caller.answer().status()).isEqualTo(200);
      assertSaysNothing(fixture.caller.answer());
    }
  }
}
