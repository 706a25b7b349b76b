package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.message.Operation;
import dev.sluice.message.Usage;
import dev.sluice.testing.Answer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What an exchange knows of tokens when it has ended. */
class StreamUsageTest {
  private static final String CHAT =
      """
      data: {"choices":[{"delta":{"content":"usage"}}],"usage":null}

      data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}

      data: [DONE]

      """;
  private static final String MESSAGES =
      """
      event: message_start
      data: {"message":{"usage":{"input_tokens":7,"output_tokens":1}}}

      event: content_block_delta
      data: {"delta":{"text":"age"}}

      event: message_delta
      data: {"usage":{"output_tokens":2}}

      event: message_stop
      data: {}

      """;

  @Test
  void aStreamCutAtAnyByteTellsItsTokens() {
    for (Operation operation : Operation.BUILT_IN) {
      String payload = payload(operation);
      for (boolean chunked : new boolean[] {true, false}) {
        String wire =
            chunked
                ? SseWire.head("transfer-encoding: chunked")
                    + SseWire.chunks(payload, List.of(70, 95, 97))
                    + "0\r\n\r\n"
                : SseWire.head("content-length: " + payload.length()) + payload;
        for (int cut = 1; cut < wire.length(); cut++) {
          assertTold(operation, payload, wire.substring(0, cut), wire.substring(cut));
        }
        assertTold(operation, payload, wire.split("(?!^)"));
      }
    }
  }

  @Test
  void chunksOfAnySizeDoNotHideThem() {
    Random random = new Random(5);
    for (int round = 0; round < 300; round++) {
      for (Operation operation : Operation.BUILT_IN) {
        String payload = payload(operation);
        String wire =
            SseWire.head("transfer-encoding: chunked")
                + SseWire.randomChunks(payload, random)
                + "0\r\n\r\n";
        assertTold(operation, payload, SseWire.randomReads(wire, random).toArray(new String[0]));
      }
    }
  }

  private static String payload(Operation operation) {
    return operation.equals(Operation.MESSAGES) ? MESSAGES : CHAT;
  }

  private static void assertTold(Operation operation, String payload, String... reads) {
    try (ExchangeFixture fixture = ExchangeFixture.of(operation, true, true).forward()) {
      for (String read : reads) {
        fixture.upstream().answer(read);
      }
      assertThat(fixture.caller.answer().body()).isEqualTo(payload);
      assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
      assertThat(fixture.summary().usage()).isEqualTo(new Usage(7, 2));
    }
  }

  @Test
  void aStreamThatBreaksOffTellsWhatWasSeenAndCountsItsEvents() {
    try (ExchangeFixture fixture = ExchangeFixture.of(Operation.MESSAGES, true, true).forward()) {
      int delta = MESSAGES.indexOf("event: message_delta");
      String begun = MESSAGES.substring(0, delta);
      fixture
          .upstream()
          .answer(SseWire.head("transfer-encoding: chunked") + SseWire.chunks(begun, List.of()));
      fixture.upstream().close();

      assertThat(fixture.summary().end()).isEqualTo(End.UPSTREAM);
      assertThat(fixture.summary().usage()).isEqualTo(new Usage(7, 1));
      assertThat(fixture.summary().events()).isEqualTo(2);
    }
  }

  @Test
  void aCallerWhoLeavesIsToldForWithWhatWasSeen() {
    try (ExchangeFixture fixture = ExchangeFixture.of(Operation.MESSAGES, true, true).forward()) {
      fixture.upstream().answer(SseWire.head("content-length: 999") + MESSAGES.substring(0, 100));
      fixture.exchange.downstreamClosed();

      assertThat(fixture.summary().end()).isEqualTo(End.CLIENT);
      assertThat(fixture.summary().usage()).isEqualTo(new Usage(7, 1));
      assertThat(fixture.summary().events()).isEqualTo(1);
    }
  }

  @Test
  void aWholeAnswerTellsItsTokens() {
    String body = "{\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2},\"choices\":[]}";
    try (ExchangeFixture fixture =
        ExchangeFixture.of(Operation.CHAT_COMPLETIONS, false, true).forward()) {
      fixture.upstream().answer(json(body));

      assertThat(fixture.caller.answer().body()).isEqualTo(body);
      assertThat(fixture.summary().usage()).isEqualTo(new Usage(7, 2));
    }
  }

  @Test
  void anAnswerThatIsRefusedTellsNone() {
    try (ExchangeFixture fixture =
        ExchangeFixture.of(Operation.CHAT_COMPLETIONS, false, true).forward()) {
      fixture.upstream().answer(json("{\"usage\":{\"prompt_tokens\":7},}"));

      assertThat(fixture.summary().status()).isEqualTo(502);
      assertThat(fixture.summary().usage()).isEqualTo(Usage.NONE);
    }
  }

  @Test
  void nonsenseDoesNotDisturbTheRelay() {
    String payload =
        "data: {\"usage\":{\"prompt_tokens\":-1,\"completion_tokens\":"
            + "9".repeat(200_000)
            + ",\"usage\":{\"x\":"
            + "[".repeat(100_000)
            + "\n\ndata: [DONE]\n\n";
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      String wire =
          SseWire.head("transfer-encoding: chunked")
              + SseWire.chunks(payload, List.of())
              + "0\r\n\r\n";
      for (int from = 0; from < wire.length(); from += 8192) {
        fixture.upstream().answer(wire.substring(from, Math.min(wire.length(), from + 8192)));
      }
      assertThat(fixture.caller.answer().body()).isEqualTo(payload);
      assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
      assertThat(fixture.summary().usage()).isEqualTo(Usage.NONE);
    }
  }

  private static String json(String body) {
    return "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }
}
