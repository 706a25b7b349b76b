package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import dev.sluice.upstream.ConnectionCounts.State;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Streams that break off, at every byte: the caller has whole events, then one error event, then a
 * broken connection; an upstream that had no event to send is a 502.
 */
class BrokenStreamTest {
  private static final String PAYLOAD =
      ": hi\n\nevent: a\r\ndata: 1\r\n\r\ndata: 2\r\rdata: 3\n\ndata: 4\n\n";

  /** How an upstream sends the stream, and to whom. */
  private enum Way {
    CHUNKED_EVENTS("transfer-encoding: chunked", true),
    CHUNKED_RAGGED("transfer-encoding: chunked", true),
    CHUNKED_WHOLE("transfer-encoding: chunked", true),
    CHUNKED_TO_HTTP_1_0("transfer-encoding: chunked", false),
    LENGTH("content-length: " + PAYLOAD.length(), true),
    LENGTH_TO_HTTP_1_0("content-length: " + PAYLOAD.length(), false),
    UNTIL_CLOSE("x: y", true),
    UNTIL_CLOSE_TO_HTTP_1_0("x: y", false);

    private final String header;
    private final boolean http11;

    Way(String header, boolean http11) {
      this.header = header;
      this.http11 = http11;
    }

    String body() {
      return switch (this) {
        case CHUNKED_EVENTS -> SseWire.chunks(PAYLOAD, List.of(6, 27, 36, 45)) + "0\r\n\r\n";
        case CHUNKED_RAGGED, CHUNKED_TO_HTTP_1_0 ->
            SseWire.chunks(PAYLOAD, List.of(1, 5, 6, 7, 20, 24, 25, 26, 30, 40, 50))
                + "0\r\nX: y\r\n\r\n";
        case CHUNKED_WHOLE -> SseWire.chunks(PAYLOAD, List.of()) + "0\r\n\r\n";
        case LENGTH, LENGTH_TO_HTTP_1_0, UNTIL_CLOSE, UNTIL_CLOSE_TO_HTTP_1_0 -> PAYLOAD;
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void aStreamThatBreaksOffAnywhereEndsWithOneErrorEvent(Way way) {
    for (Operation operation : Operation.BUILT_IN) {
      for (int at = 0; at < way.body().length(); at++) {
        int mid = at / 2;
        assertBrokenOff(way, operation, at, List.of(way.body().substring(0, at)));
        assertBrokenOff(
            way,
            operation,
            at,
            List.of(way.body().substring(0, mid), way.body().substring(mid, at)));
        assertBrokenOff(way, operation, at, List.of(way.body().substring(0, at).split("(?!^)")));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCallerWhoLeavesAnywhereLeavesNothingBehind(Way way) {
    for (int at = 0; at <= way.body().length(); at++) {
      for (int mid : new int[] {0, at / 2, at}) {
        try (ExchangeFixture fixture =
            ExchangeFixture.of(Operation.MESSAGES, true, way.http11).forward()) {
          fixture.upstream().answer(SseWire.head(way.header) + way.body().substring(0, mid));
          fixture.upstream().answer(way.body().substring(mid, at));
          fixture.exchange.downstreamClosed();
          fixture.run();

          boolean whole = way.body().length() == at && !way.header.equals("x: y");
          assertThat(fixture.summary().end()).isEqualTo(whole ? End.DONE : End.CLIENT);
          assertThat(fixture.upstream().isActive()).isEqualTo(whole);
          assertNothingHeld(fixture);
        }
      }
    }
  }

  @Test
  void aCallerWhoLeavesWithinTheHeadOfTheAnswerLeavesNothingBehind() {
    String head = SseWire.head("transfer-encoding: chunked");
    for (int at = 0; at <= head.length(); at++) {
      try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
        fixture.upstream().answer(head.substring(0, at));
        fixture.exchange.downstreamClosed();

        assertThat(fixture.summary().end()).isEqualTo(End.CLIENT);
        assertThat(fixture.summary().status()).isZero();
        assertThat(fixture.upstream().isActive()).isFalse();
        assertNothingHeld(fixture);
      }
    }
  }

  @Test
  void anUpstreamThatBreaksOffWithinItsHeadIs502() {
    String head = SseWire.head("transfer-encoding: chunked");
    for (int at = 0; at <= head.length(); at++) {
      try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
        fixture.upstream().answer(head.substring(0, at));
        fixture.upstream().close();

        assertThat(fixture.caller.answer().status()).isEqualTo(502);
        assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
        assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_CLOSED);
        assertThat(fixture.caller.keepsAlive).isTrue();
        assertNothingHeld(fixture);
      }
    }
  }

  @Test
  void aStreamWithBrokenFramingEndsWithAnErrorEventToo() {
    assertBrokenBy(
        "9\r\ndata: 1\n\n\r\n",
        fixture -> fixture.upstream().answer("x"),
        End.UPSTREAM,
        Reason.UPSTREAM_PROTOCOL);
    assertBrokenBy("9\r\ndata: 1\n\nx", fixture -> {}, End.UPSTREAM, Reason.UPSTREAM_PROTOCOL);
    assertBrokenBy(
        "9\r\ndata: 1\n\n\r\n-1\r\n", fixture -> {}, End.UPSTREAM, Reason.UPSTREAM_PROTOCOL);
  }

  @Test
  void aStreamThatFallsSilentEndsWithAnErrorEventInTime() {
    assertBrokenBy(
        "9\r\ndata: 1\n\n\r\n4\r\ndata",
        fixture -> {
          fixture.pass(Duration.ofMinutes(5).toNanos() - 1);
          assertThat(fixture.summaries).isEmpty();
          fixture.pass(1);
        },
        End.TIMEOUT,
        Reason.UPSTREAM_IDLE_TIMEOUT);
  }

  @Test
  void aShutdownEndsAStreamWithAnErrorEvent() {
    assertBrokenBy(
        "9\r\ndata: 1\n\n\r\n",
        fixture -> fixture.exchange.shutdown(),
        End.SHUTDOWN,
        Reason.SHUTDOWN);
  }

  @Test
  void aCallerWhoTakesNothingForAsLongAsAnUpstreamMayBeSilentIsLeft() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head("transfer-encoding: chunked") + "9\r\ndata: 1\n\n");
      fixture.exchange.writabilityChanged(false);
      fixture.pass(Duration.ofMinutes(5).toNanos());

      assertThat(fixture.caller.aborted).isTrue();
      assertThat(fixture.summary().end()).isEqualTo(End.CLIENT);
      assertThat(fixture.upstream().isActive()).isFalse();
      assertNothingHeld(fixture);
    }
  }

  @Test
  void anEventTooLargeToHoldIsSentOnInWhateverChunksItComes() {
    String event = "data: " + "x".repeat(300_000) + "\n\n";
    for (int chunk : new int[] {1_000, 5_000, 70_000, 300_008}) {
      for (int tail : new int[] {0, 1, 2, 3}) {
        // Reads end behind a chunk, or within the framing between two.
        try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
          fixture.upstream().answer(SseWire.head("transfer-encoding: chunked"));
          StringBuilder wire = new StringBuilder();
          for (int from = 0; from < event.length(); from += chunk) {
            wire.append(
                SseWire.chunks(
                    event.substring(from, Math.min(event.length(), from + chunk)), List.of()));
            if (wire.length() > tail) {
              fixture.upstream().answer(wire.substring(0, wire.length() - tail));
              wire.delete(0, wire.length() - tail);
            }
            int read = Math.min(event.length(), from + chunk);
            assertThat(read - fixture.caller.take().length())
                .as("bytes held back")
                .isLessThan(StreamRelay.MAX_HELD_BYTES + 2 * chunk);
          }
          fixture.upstream().answer(wire + "0\r\n\r\n");

          assertThat(fixture.caller.answer().body()).isEqualTo(event);
          assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
          assertThat(fixture.summary().events()).isEqualTo(1);
        }
      }
    }
  }

  @Test
  void anEventTooLargeToHoldThatBreaksOffIsEndedBeforeTheErrorEvent() {
    Random random = new Random(3);
    String event = "data: " + "x".repeat(200_000);
    for (Way way : Way.values()) {
      for (int round = 0; round < 20; round++) {
        String body =
            switch (way) {
              case CHUNKED_EVENTS, CHUNKED_RAGGED, CHUNKED_TO_HTTP_1_0 ->
                  SseWire.randomChunks(event, random);
              case CHUNKED_WHOLE -> "fffff\r\n" + event;
              default -> event;
            };
        String header = way.name().startsWith("LENGTH") ? "content-length: 300000" : way.header;
        try (ExchangeFixture fixture =
            ExchangeFixture.of(Operation.CHAT_COMPLETIONS, true, way.http11).forward()) {
          fixture.caller.eager = round % 2 == 0;
          SseWire.randomReads(SseWire.head(header) + body, random)
              .forEach(fixture.upstream()::answer);
          fixture.upstream().reset();

          Answer answer = fixture.caller.answer();
          int cut = answer.body().indexOf("\n\n");
          assertThat(answer.body().substring(0, cut))
              .as("a part of the event")
              .isEqualTo(event.substring(0, cut));
          assertThat(cut).isGreaterThan(event.length() - StreamRelay.MAX_HELD_BYTES - 10_000);
          assertThat(answer.body().substring(cut + 2).stripTrailing() + "\n\n")
              .isEqualTo(errorEvent(fixture, false));
          assertNotWhole(way, answer);
          assertNothingHeld(fixture);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CHUNKED_WHOLE", "LENGTH", "CHUNKED_TO_HTTP_1_0"})
  void anEventBehindOneTooLargeToHoldBreaksOffAsAnyOther(Way way) {
    String large = "data: " + "x".repeat(100_000);
    String header = way == Way.LENGTH ? "content-length: 300000" : way.header;
    String size = way == Way.LENGTH ? "" : "fffff\r\n";
    try (ExchangeFixture fixture =
        ExchangeFixture.of(Operation.CHAT_COMPLETIONS, true, way.http11).forward()) {
      fixture.upstream().answer(SseWire.head(header) + size + large);
      fixture.upstream().answer("x\n\ndata: next");
      fixture.upstream().reset();

      assertThat(fixture.caller.answer().body().stripTrailing() + "\n\n")
          .isEqualTo(large + "x\n\n" + errorEvent(fixture, false));
    }
  }

  @Test
  void theErrorEventFitsIntoWhateverIsLeftOfAChunk() {
    for (int left = 0; left < 400; left++) {
      String head = SseWire.head("transfer-encoding: chunked");
      try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
        fixture
            .upstream()
            .answer(
                head + Integer.toHexString(9 + left) + "\r\ndata: 1\n\n" + "d".repeat(left / 2));
        fixture.upstream().close();

        Answer answer = fixture.caller.answer();
        assertThat(answer.body().stripTrailing() + "\n\n")
            .isEqualTo("data: 1\n\n" + errorEvent(fixture, false));
        assertThat(answer.end()).isEqualTo(Answer.End.BETWEEN_CHUNKS);
      }
    }
  }

  private void assertBrokenBy(
      String body, Consumer<ExchangeFixture> breaking, End end, Reason reason) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head("transfer-encoding: chunked") + body);
      breaking.accept(fixture);

      Answer answer = fixture.caller.answer();
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).startsWith("data: 1\n\ndata: {\"error\":{");
      assertThat(answer.body().substring("data: 1\n\n".length())).containsOnlyOnce("data: ");
      assertThat(answer.end()).isEqualTo(Answer.End.BETWEEN_CHUNKS);
      assertThat(fixture.summary().end()).isEqualTo(end);
      assertThat(fixture.summary().reason()).isEqualTo(reason);
      assertThat(fixture.summary().events()).isEqualTo(1);
      assertThat(fixture.caller.keepsAlive).isFalse();
      assertThat(fixture.upstream().isActive()).isFalse();
      assertNothingHeld(fixture);
    }
  }

  private static void assertBrokenOff(Way way, Operation operation, int at, List<String> reads) {
    try (ExchangeFixture fixture = ExchangeFixture.of(operation, true, way.http11).forward()) {
      fixture.caller.eager = at % 2 == 0;
      fixture.upstream().answer(SseWire.head(way.header));
      reads.forEach(fixture.upstream()::answer);
      fixture.upstream().reset();

      Answer answer = fixture.caller.answer();
      String came = payloadOf(way, way.body().substring(0, at));
      String events = came.substring(0, SseWire.lastBoundary(came));
      if (events.isEmpty()) {
        assertThat(answer.status()).as("%s broken at %d", way, at).isEqualTo(502);
        assertThat(fixture.summary().end()).isEqualTo(End.DONE);
      } else {
        String expected = events + errorEvent(fixture, operation.equals(Operation.MESSAGES));
        assertThat(answer.body().stripTrailing() + "\n\n")
            .as("%s broken at %d", way, at)
            .isEqualTo(expected);
        assertNotWhole(way, answer);
        assertThat(fixture.summary().end()).isEqualTo(End.UPSTREAM);
        assertThat(fixture.summary().status()).isEqualTo(200);
        assertThat(fixture.caller.keepsAlive).isFalse();
      }
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_CLOSED);
      assertThat(fixture.summary().events()).isEqualTo(SseWire.countEvents(came));
      assertThat(fixture.upstream().isActive()).isFalse();
      assertNothingHeld(fixture);
    }
  }

  private static void assertNotWhole(Way way, Answer answer) {
    if (way == Way.CHUNKED_WHOLE && answer.end() == Answer.End.WITHIN) {
      return; // more was left of the chunk than is worth filling
    }
    assertThat(answer.end()).isEqualTo(way.http11 ? Answer.End.BETWEEN_CHUNKS : Answer.End.OPEN);
  }

  private static void assertNothingHeld(ExchangeFixture fixture) {
    assertThat(fixture.slots.inUse("free")).isZero();
    assertThat(fixture.budget.heldBytes()).isZero();
    assertThat(fixture.caller.exchangesEnded).isEqualTo(1);
    assertThat(fixture.connections.count(State.ACTIVE)).isZero();
    assertThat(fixture.connections.count(State.CONNECTING)).isZero();
  }

  private static String errorEvent(ExchangeFixture fixture, boolean named) {
    return (named ? "event: error\n" : "")
        + "data: {\"error\":{\"message\":\"The model broke off before its answer was whole. Send"
        + " the request again.\",\"type\":\"upstream_error\"},\"request_id\":\""
        + fixture.exchange.requestId()
        + "\"}\n\n";
  }

  /** The payload of these bytes of a body, by the reader of answers. */
  private static String payloadOf(Way way, String body) {
    return way.header.startsWith("transfer")
        ? Answer.read("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + trimTrailer(body))
            .body()
        : body;
  }

  private static String trimTrailer(String body) {
    return body.contains("\r\n0\r\n") ? body.substring(0, body.indexOf("\r\n0\r\n") + 2) : body;
  }
}
