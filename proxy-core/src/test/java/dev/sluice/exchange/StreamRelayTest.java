package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.message.Dialect;
import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import dev.sluice.upstream.ConnectionCounts.State;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams that end as they should: what the upstream sent is what the caller reads. */
class StreamRelayTest {
  private static final int FUZZ_ROUNDS = 1500;
  static final Operation OTHER = new Operation("other", "/v1/other", Dialect.OTHER, false);
  private static final List<Operation> OPERATIONS =
      List.of(Operation.CHAT_COMPLETIONS, Operation.MESSAGES, OTHER);

  @Test
  void aStreamCutAnywhereReachesTheCallerWhole() {
    for (Operation operation : OPERATIONS) {
      String payload =
          ": hi\n\nevent: a\r\ndata: 1\r\n\r\ndata: 2\r\rdata: 3\n\n"
              + SseWire.terminator(operation, "\n");
      String wire =
          SseWire.head("transfer-encoding: chunked")
              + SseWire.chunks(payload, List.of(6, 9, 22, 31, 32, 33, 34, 42))
              + "0\r\n\r\n";
      for (int cut = 1; cut < wire.length(); cut++) {
        List<String> reads = List.of(wire.substring(0, cut), wire.substring(cut));
        assertRelayed(operation, payload, reads, true, State.IDLE);
      }
      assertRelayed(operation, payload, List.of(wire.split("(?!^)")), true, State.IDLE);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void anyStreamInAnyChunksAndReadsReachesTheCallerWhole(long seed) {
    Random random = new Random(seed);
    for (int round = 0; round < FUZZ_ROUNDS; round++) {
      Operation operation = OPERATIONS.get(random.nextInt(OPERATIONS.size()));
      String payload = SseWire.randomEvents(random) + SseWire.randomTerminator(operation, random);
      if (random.nextInt(3) == 0) { // it ends within an event, which is its own affair
        String more = SseWire.randomEvents(random);
        payload += more.substring(0, random.nextInt(more.length()));
      }
      String wire;
      @Nullable State after = State.IDLE;
      switch (random.nextInt(4)) {
        case 0 -> wire = SseWire.head("content-length: " + payload.length()) + payload;
        case 1 -> {
          wire = SseWire.head() + payload;
          after = null;
        }
        default ->
            wire =
                SseWire.head("transfer-encoding: chunked")
                    + SseWire.randomChunks(payload, random)
                    + SseWire.randomEnd(random);
      }
      assertRelayed(
          operation, payload, SseWire.randomReads(wire, random), random.nextInt(3) > 0, after);
    }
  }

  @Test
  void trailersAreDropped() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture
          .upstream()
          .answer(
              SseWire.head("transfer-encoding: chunked", "trailer: x-sum")
                  + "d\r\ndata:[DONE]\n\n\r\n0\r\nX-Sum: 7\r\nContent-Length: 3\r\n\r\n");

      Answer answer = fixture.caller.answer();
      assertThat(answer.body()).isEqualTo("data:[DONE]\n\n");
      assertThat(answer.end()).isEqualTo(Answer.End.WHOLE);
      assertThat(fixture.caller.take()).doesNotContainIgnoringCase("x-sum");
      assertThat(fixture.connections.count(State.IDLE)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "transfer-encoding: chunked|d\r\ndata:[DONE]\n\n\r\n0\r\n\r\n",
        "content-length: 13|data:[DONE]\n\n",
      })
  void aByteTooManyClosesTheConnectionBehindAWholeAnswer(String answer) {
    String[] parts = answer.split("\\|", 2);
    for (String surplus : List.of("\r", "\r\n", "x", "HTTP/1.1 200 OK\r\n\r\n")) {
      for (boolean sameRead : new boolean[] {true, false}) {
        try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
          if (sameRead) {
            fixture.upstream().answer(SseWire.head(parts[0]) + parts[1] + surplus);
          } else {
            fixture.upstream().answer(SseWire.head(parts[0]) + parts[1]);
            fixture.upstream().answer(surplus);
          }
          assertThat(fixture.caller.answer().body()).isEqualTo("data:[DONE]\n\n");
          assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
          assertThat(fixture.summary().end()).isEqualTo(End.DONE);
          assertThat(fixture.upstream().isActive()).isFalse();
          assertThat(fixture.connections.count(State.IDLE)).isZero();
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "transfer-encoding: chunked|0\r\n\r\n",
        "transfer-encoding: chunked|0\r\nA: b\r\n\r\n",
        "transfer-encoding: chunked|00\r\n\r\n",
        "content-length: 0|",
        "x: y|",
      })
  void aStreamWithoutAByteIsNoAnswer(String answer) {
    String[] parts = answer.split("\\|", 2);
    for (Operation operation : OPERATIONS) {
      try (ExchangeFixture fixture = ExchangeFixture.of(operation, true, true).forward()) {
        fixture.upstream().answer(SseWire.head(parts[0]) + parts[1]);
        fixture.upstream().close();

        assertThat(fixture.caller.answer().status()).isEqualTo(502);
        assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_TRUNCATED);
        assertThat(fixture.slots.inUse("free")).isZero();
      }
    }
  }

  @Test
  void anEventIsSentOnBeforeTheNextOneComes() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head("transfer-encoding: chunked"));
      assertThat(fixture.caller.take()).isEmpty();
      fixture.upstream().answer("9\r\ndata: 1\n");
      assertThat(fixture.caller.take()).isEmpty();
      fixture.upstream().answer("\n");
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\n");
      assertThat(fixture.caller.flushes).isEqualTo(1);
      fixture.upstream().answer("\r\n");
      fixture.upstream().answer("9\r\ndata: 2\n\n\r\n");
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\ndata: 2\n\n");
      assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.BETWEEN_CHUNKS);
      assertThat(fixture.summaries).isEmpty();
      assertThat(fixture.slots.inUse("free")).isEqualTo(1);
    }
  }

  @Test
  void theHeadIsTheUpstreamsButForWhatBelongsToItsConnection() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture
          .upstream()
          .answer(
              SseWire.head(
                      "transfer-encoding: chunked",
                      "x-kept: 1",
                      "connection: x-mine, close",
                      "x-mine: 1",
                      "keep-alive: timeout=5",
                      "x-request-id: theirs",
                      "X-RateLimit-Limit-Streams: 100",
                      "x-ratelimit-remaining-streams: 99",
                      "x-ratelimit-remaining-requests: 98",
                      "date: Thu, 01 Jan 1970 00:00:00 GMT")
                  + "d\r\ndata:[DONE]\n\n\r\n0\r\n\r\n");

      assertThat(fixture.caller.answer().head().lines())
          .containsExactlyInAnyOrder(
              "HTTP/1.1 200 OK",
              "content-type: text/event-stream",
              "transfer-encoding: chunked",
              "x-kept: 1",
              "x-ratelimit-remaining-requests: 98",
              "x-ratelimit-limit-streams: 2",
              "x-ratelimit-remaining-streams: 1",
              "date: Thu, 01 Jan 1970 00:00:00 GMT",
              "x-request-id: " + fixture.exchange.requestId(),
              "");
      assertThat(fixture.upstream().isActive()).isFalse(); // it said close
    }
  }

  @Test
  void aSlowCallerStopsTheUpstreamUntilItTakesMore() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture
          .upstream()
          .answer(SseWire.head("transfer-encoding: chunked") + "d\r\ndata:[DONE]\n\n\r\n");
      assertThat(fixture.upstream().config().isAutoRead()).isTrue();
      fixture.exchange.writabilityChanged(false);
      assertThat(fixture.upstream().config().isAutoRead()).isFalse();
      fixture.exchange.writabilityChanged(true);
      assertThat(fixture.upstream().config().isAutoRead()).isTrue();
      fixture.exchange.writabilityChanged(false);
      fixture.upstream().answer("0\r\n\r\n");

      assertThat(fixture.connections.count(State.IDLE)).isEqualTo(1);
      assertThat(fixture.upstream().config().isAutoRead()).isTrue();
    }
  }

  @Test
  void aSlotIsFreeWhenTheLastBytesAreWrittenAndNotOnlyWhenTheyAreTaken() {
    try (ExchangeFixture fixture = ExchangeFixture.stream()) {
      fixture.caller.slow = true;
      fixture.forward();
      fixture
          .upstream()
          .answer(SseWire.head("transfer-encoding: chunked") + "d\r\ndata:[DONE]\n\n\r\n0\r\n\r\n");
      assertThat(fixture.slots.inUse("free")).isZero();
      assertThat(fixture.summaries).isEmpty();

      fixture.caller.deliver(true);
      assertThat(fixture.summary().end()).isEqualTo(End.DONE);
      assertThat(fixture.summary().events()).isEqualTo(1);
    }
  }

  private static void assertRelayed(
      Operation operation,
      String payload,
      List<String> reads,
      boolean http11,
      @Nullable State after) {
    try (ExchangeFixture fixture = ExchangeFixture.of(operation, true, http11).forward()) {
      fixture.caller.eager = reads.hashCode() % 2 == 0;
      reads.forEach(fixture.upstream()::answer);
      if (after == null) {
        fixture.upstream().close();
      }
      Answer answer = fixture.caller.answer();
      assertThat(answer.body()).as("%s", reads).isEqualTo(payload);
      assertThat(answer.end()).isEqualTo(http11 ? Answer.End.WHOLE : Answer.End.OPEN);
      assertThat(fixture.caller.keepsAlive).isEqualTo(http11);
      assertThat(fixture.summary().end()).isEqualTo(End.DONE);
      assertThat(fixture.summary().events())
          .as("%s", reads)
          .isEqualTo(SseWire.countEvents(payload));
      assertThat(fixture.summary().bytesOut()).isEqualTo(fixture.caller.take().length());
      assertThat(fixture.caller.exchangesEnded).isEqualTo(1);
      assertThat(fixture.slots.inUse("free")).isZero();
      assertThat(fixture.budget.heldBytes()).isZero();
      assertThat(fixture.connections.count(State.IDLE)).isEqualTo(after == State.IDLE ? 1 : 0);
      assertThat(fixture.connections.count(State.ACTIVE)).isZero();
    }
  }
}
