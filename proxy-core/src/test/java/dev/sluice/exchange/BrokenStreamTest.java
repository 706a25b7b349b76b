package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import dev.sluice.upstream.ConnectionCounts.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Streams that break off, at every byte: the caller has whole events, then one error event, then a
 * broken connection; an upstream that had no event to send is a 502. A stream whose terminator the
 * caller has is whole, whatever its upstream does then.
 */
class BrokenStreamTest {
  private static final String BROKE_OFF = "The model broke off before its answer was whole.";
  private static final String ENDED_EARLY = "The model ended its answer before it was whole.";
  private static final List<String> LINE_ENDS = List.of("\n", "\r\n", "\r");

  /** Events with all line ends, a terminator, and what may stand behind it. */
  private static String payload(Operation operation) {
    return ": hi\n\nevent: a\r\ndata: 1\r\n\r\ndata: 2\r\rdata: 3\n\n"
        + SseWire.terminator(operation, "\n")
        + ": bye\n\n";
  }

  private static String payload(Operation operation, String end) {
    return ": hi" + end + end + "data: 1" + end + end + SseWire.terminator(operation, end);
  }

  /** How an upstream sends the stream, and to whom. */
  private enum Way {
    CHUNKED_EVENTS(true),
    CHUNKED_RAGGED(true),
    CHUNKED_WHOLE(true),
    CHUNKED_TO_HTTP_1_0(false),
    LENGTH(true),
    LENGTH_TO_HTTP_1_0(false),
    UNTIL_CLOSE(true),
    UNTIL_CLOSE_TO_HTTP_1_0(false);

    private final boolean http11;

    Way(boolean http11) {
      this.http11 = http11;
    }

    boolean isChunked() {
      return name().startsWith("CHUNKED");
    }

    boolean endsWithItsConnection() {
      return name().startsWith("UNTIL_CLOSE");
    }

    String head(String payload) {
      return SseWire.head(
          isChunked()
              ? "transfer-encoding: chunked"
              : endsWithItsConnection() ? "x: y" : "content-length: " + payload.length());
    }

    String body(String payload) {
      return switch (this) {
        case CHUNKED_EVENTS -> SseWire.chunks(payload, boundaries(payload)) + "0\r\n\r\n";
        case CHUNKED_RAGGED, CHUNKED_TO_HTTP_1_0 -> ragged(payload) + "0\r\nX: y\r\n\r\n";
        case CHUNKED_WHOLE -> SseWire.chunks(payload, List.of()) + "0\r\n\r\n";
        case LENGTH, LENGTH_TO_HTTP_1_0, UNTIL_CLOSE, UNTIL_CLOSE_TO_HTTP_1_0 -> payload;
      };
    }

    private static List<Integer> boundaries(String payload) {
      return IntStream.rangeClosed(1, payload.length())
          .filter(at -> SseWire.lastBoundary(payload.substring(0, at)) == at)
          .boxed()
          .toList();
    }

    private static String ragged(String payload) {
      List<Integer> ends = new ArrayList<>(List.of(1, 5, 6, 7, 20, 24, 25, 26, 30, 40));
      for (int back : new int[] {20, 12, 11, 9, 8, 1}) {
        ends.add(payload.length() - back);
      }
      ends.removeIf(end -> end > payload.length());
      ends.sort(null);
      return SseWire.chunks(payload, ends);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aStreamThatBreaksOffAnywhereIsToldFromAWholeOne(Way way) {
    for (Operation operation : Operation.BUILT_IN) {
      String body = way.body(payload(operation));
      for (int at = 0; at < body.length(); at++) {
        String came = body.substring(0, at);
        int mid = at / 2;
        assertBrokenOff(way, operation, payload(operation), List.of(came));
        assertBrokenOff(
            way,
            operation,
            payload(operation),
            List.of(came.substring(0, mid), came.substring(mid)));
        assertBrokenOff(way, operation, payload(operation), List.of(came.split("(?!^)")));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void itIsWithAnyLineEnds(Way way) {
    for (Operation operation : Operation.BUILT_IN) {
      for (String lineEnd : LINE_ENDS) {
        String payload = payload(operation, lineEnd);
        String body = way.body(payload);
        for (int at = 0; at < body.length(); at++) {
          assertBrokenOff(way, operation, payload, List.of(body.substring(0, at)));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aStreamThatEndsInOrderIsWholeWithItsTerminatorAlone(Way way) {
    for (Operation operation : Operation.BUILT_IN) {
      List<String> payloads = new ArrayList<>(List.of(payload(operation)));
      LINE_ENDS.forEach(lineEnd -> payloads.add(payload(operation, lineEnd)));
      for (String payload : payloads) {
        for (int at = 1; at <= payload.length(); at++) {
          assertEnded(way, operation, payload.substring(0, at));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCallerWhoLeavesAnywhereLeavesNothingBehind(Way way) {
    String payload = payload(Operation.MESSAGES);
    String body = way.body(payload);
    for (int at = 0; at <= body.length(); at++) {
      for (int mid : new int[] {0, at / 2, at}) {
        try (ExchangeFixture fixture =
            ExchangeFixture.of(Operation.MESSAGES, true, way.http11).forward()) {
          fixture.upstream().answer(way.head(payload) + body.substring(0, mid));
          fixture.upstream().answer(body.substring(mid, at));
          fixture.exchange.downstreamClosed();
          fixture.run();

          boolean whole = body.length() == at && !way.endsWithItsConnection();
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

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAnswerThatIsOnItsWayAtAShutdownIsWholeWhereItsCallerTakesItSoon(boolean taken) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.caller.slow = true;
      fixture
          .upstream()
          .answer(
              SseWire.head("transfer-encoding: chunked") + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
      fixture.exchange.shutdown();
      assertThat(fixture.caller.keepsAlive).isFalse();
      assertThat(fixture.summaries).isEmpty();
      fixture.caller.deliver(taken);

      assertThat(fixture.summary().end()).isEqualTo(taken ? End.DONE : End.SHUTDOWN);
      assertThat(fixture.summary().reason()).isNull();
    }
  }

  @Test
  void aStreamWhoseCallerDoesNotTakeTheErrorEventWasBrokenOffAllTheSame() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head("transfer-encoding: chunked") + "9\r\ndata: 1\n\n");
      fixture.caller.slow = true;
      fixture.exchange.shutdown();
      assertThat(fixture.summaries).isEmpty();
      fixture.caller.deliver(false);

      assertThat(fixture.summary().end()).isEqualTo(End.SHUTDOWN);
      assertNothingHeld(fixture);
    }
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
          String terminator = SseWire.terminator(Operation.CHAT_COMPLETIONS, "\n");
          fixture.upstream().answer(wire + SseWire.chunks(terminator, List.of()) + "0\r\n\r\n");

          assertThat(fixture.caller.answer().body()).isEqualTo(event + terminator);
          assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
          assertThat(fixture.summary().events()).isEqualTo(2);
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
        String header = header(way);
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
    String header = header(way);
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

  private static String header(Way way) {
    return way.isChunked()
        ? "transfer-encoding: chunked"
        : way.endsWithItsConnection() ? "x: y" : "content-length: 300000";
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

  /** The bytes come, and then a reset. */
  private static void assertBrokenOff(
      Way way, Operation operation, String payload, List<String> reads) {
    try (ExchangeFixture fixture = ExchangeFixture.of(operation, true, way.http11).forward()) {
      fixture.caller.eager = reads.hashCode() % 2 == 0;
      fixture.upstream().answer(way.head(payload));
      reads.forEach(fixture.upstream()::answer);
      fixture.upstream().reset();

      String came = payloadOf(way, String.join("", reads));
      if (SseWire.isTerminated(came, operation)) {
        assertWhole(way, fixture, came.substring(0, SseWire.lastBoundary(came)));
      } else {
        assertBroken(way, operation, fixture, came, Reason.UPSTREAM_CLOSED, BROKE_OFF);
      }
    }
  }

  /** The payload comes, and then the end of its framing. */
  private static void assertEnded(Way way, Operation operation, String payload) {
    try (ExchangeFixture fixture = ExchangeFixture.of(operation, true, way.http11).forward()) {
      fixture.caller.eager = payload.hashCode() % 2 == 0;
      fixture.upstream().answer(way.head(payload));
      fixture.upstream().answer(way.body(payload));
      if (way.endsWithItsConnection()) {
        fixture.upstream().close();
      }
      if (SseWire.mayEnd(payload, operation)) {
        assertThat(fixture.caller.answer().body()).isEqualTo(payload);
        assertWhole(way, fixture, payload);
      } else {
        assertBroken(way, operation, fixture, payload, Reason.UPSTREAM_TRUNCATED, ENDED_EARLY);
      }
    }
  }

  private static void assertWhole(Way way, ExchangeFixture fixture, String events) {
    Answer answer = fixture.caller.answer();
    // Empty lines may have filled what was left of a chunk.
    assertThat(answer.body()).startsWith(events);
    assertThat(answer.body().substring(events.length())).isBlank();
    assertThat(answer.end()).isEqualTo(way.http11 ? Answer.End.WHOLE : Answer.End.OPEN);
    assertThat(fixture.caller.keepsAlive).isEqualTo(way.http11);
    assertThat(fixture.summary().end()).isEqualTo(End.DONE);
    assertThat(fixture.summary().reason()).isNull();
    assertThat(fixture.summary().events()).isEqualTo(SseWire.countEvents(events));
    assertNothingHeld(fixture);
  }

  private static void assertBroken(
      Way way,
      Operation operation,
      ExchangeFixture fixture,
      String came,
      Reason reason,
      String message) {
    Answer answer = fixture.caller.answer();
    String events = came.substring(0, SseWire.lastBoundary(came));
    if (SseWire.countEvents(came) == 0) { // comments commit to nothing
      assertThat(answer.status()).as("%s broken behind %s", way, came).isEqualTo(502);
      assertThat(answer.body()).contains(message);
      assertThat(fixture.summary().end()).isEqualTo(End.DONE);
    } else {
      assertThat(answer.body().stripTrailing() + "\n\n")
          .as("%s broken behind %s", way, came)
          .isEqualTo(events + errorEvent(fixture, operation.equals(Operation.MESSAGES), message));
      assertNotWhole(way, answer);
      assertThat(fixture.summary().end()).isEqualTo(End.UPSTREAM);
      assertThat(fixture.summary().status()).isEqualTo(200);
      assertThat(fixture.caller.keepsAlive).isFalse();
    }
    assertThat(fixture.summary().reason()).isEqualTo(reason);
    assertThat(fixture.summary().events()).isEqualTo(SseWire.countEvents(came));
    assertThat(fixture.upstream().isActive()).isFalse();
    assertNothingHeld(fixture);
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
    return errorEvent(fixture, named, BROKE_OFF);
  }

  private static String errorEvent(ExchangeFixture fixture, boolean named, String message) {
    return (named ? "event: error\n" : "")
        + "data: {\"error\":{\"message\":\""
        + message
        + " Send the request again.\",\"type\":\"upstream_error\"},\"request_id\":\""
        + fixture.exchange.requestId()
        + "\"}\n\n";
  }

  /** The payload of these bytes of a body, by the reader of answers. */
  private static String payloadOf(Way way, String body) {
    return way.isChunked()
        ? Answer.read("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + trimTrailer(body))
            .body()
        : body;
  }

  private static String trimTrailer(String body) {
    return body.contains("\r\n0\r\n") ? body.substring(0, body.indexOf("\r\n0\r\n") + 2) : body;
  }
}
