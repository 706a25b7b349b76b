package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Timeouts;
import dev.sluice.error.Reason;
import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Comment lines in gaps: where they stand, and where they must not. */
class StreamPingTest {
  private static final String PING = ": ping\n\n";
  private static final String CHUNKED = "transfer-encoding: chunked";
  private static final String END = "d\r\ndata:[DONE]\n\n\r\n0\r\n\r\n";
  private static final Duration EVERY = Duration.ofSeconds(15);

  private static final Model TWO_ENDPOINTS =
      new Model(
          "small",
          null,
          List.of(
              new Endpoint("10.0.0.1", 8000, false, "", null),
              new Endpoint("10.0.0.2", 8000, false, "", null)),
          Timeouts.DEFAULT,
          Balance.LEAST_EXCHANGES,
          Model.DEFAULT_ATTEMPTS,
          null,
          "acme",
          Instant.EPOCH);

  private static ExchangeFixture pinging() {
    return ExchangeFixture.pinging(Operation.CHAT_COMPLETIONS, true, EVERY).forward();
  }

  private static void passInterval(ExchangeFixture fixture) {
    fixture.pass(EVERY.toNanos());
  }

  @Test
  void withoutItASilentStreamStaysSilent() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head(CHUNKED));
      fixture.pass(Duration.ofMinutes(4).toNanos());
      assertThat(fixture.caller.take()).isEmpty();
      fixture.upstream().answer("9\r\ndata: 1\n\n\r\n");
      String taken = fixture.caller.take();
      fixture.pass(Duration.ofMinutes(4).toNanos());
      assertThat(fixture.caller.take()).isEqualTo(taken);
    }
  }

  @Test
  void aGapOfTheIntervalHasOnePingAndALongerOneMore() {
    try (ExchangeFixture fixture = pinging()) {
      fixture.upstream().answer(SseWire.head(CHUNKED) + "9\r\ndata: 1\n\n\r\n");
      int flushes = fixture.caller.flushes;
      fixture.pass(EVERY.toNanos() - 1);
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\n");
      fixture.pass(1);
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\n" + PING);
      assertThat(fixture.caller.flushes).isEqualTo(flushes + 1);
      passInterval(fixture);
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\n" + PING + PING);

      fixture.pass(EVERY.toNanos() - 1);
      fixture.upstream().answer("9\r\ndata: 2\n\n\r\n");
      fixture.pass(EVERY.toNanos() - 1);
      fixture.upstream().answer(END);
      passInterval(fixture);
      assertThat(fixture.caller.answer().body())
          .isEqualTo("data: 1\n\n" + PING + PING + "data: 2\n\ndata:[DONE]\n\n");
      assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
      assertThat(fixture.summary().events()).as("pings are none").isEqualTo(3);
      assertThat(fixture.summary().bytesOut()).isEqualTo(fixture.caller.take().length());
    }
  }

  @Test
  void nothingIsSentBeforeTheUpstreamsStatusIsKnown() {
    try (ExchangeFixture fixture = pinging()) {
      passInterval(fixture);
      fixture.upstream().answer("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n");
      passInterval(fixture);
      assertThat(fixture.caller.take()).isEmpty();
      fixture.upstream().reset();
      assertThat(fixture.caller.answer().status()).isEqualTo(502);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {CHUNKED, "content-length: 999", "x: y"})
  void aPingBeforeTheFirstEventSendsTheHeadAndThereIsNo502AnyMore(String header) {
    for (boolean http11 : new boolean[] {true, false}) {
      try (ExchangeFixture fixture =
          ExchangeFixture.pinging(Operation.MESSAGES, http11, EVERY).forward()) {
        fixture.upstream().answer(SseWire.head(header));
        passInterval(fixture);
        assertThat(fixture.caller.answer().status()).isEqualTo(200);
        assertThat(fixture.caller.answer().body()).isEqualTo(PING);
        fixture.upstream().reset();

        assertThat(fixture.caller.answer().body())
            .startsWith(PING + "event: error\ndata: {\"error\":");
        assertThat(fixture.caller.answer().end())
            .isEqualTo(http11 ? Answer.End.BETWEEN_CHUNKS : Answer.End.OPEN);
        assertThat(fixture.summary().end()).isEqualTo(End.UPSTREAM);
        assertThat(fixture.summary().events()).isZero();
      }
    }
  }

  @Test
  void aStreamThatPingsAloneHaveSentIsNotWhole() {
    for (Operation operation :
        List.of(Operation.CHAT_COMPLETIONS, StreamRelayTest.OTHER, Operation.MESSAGES)) {
      try (ExchangeFixture fixture = ExchangeFixture.pinging(operation, true, EVERY).forward()) {
        fixture.upstream().answer(SseWire.head(CHUNKED));
        passInterval(fixture);
        fixture.upstream().answer("0\r\n\r\n");

        assertThat(fixture.caller.answer().body()).contains("{\"error\":");
        assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.BETWEEN_CHUNKS);
        assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_TRUNCATED);
      }
    }
  }

  @Test
  void aPingIsNoProgress() {
    try (ExchangeFixture fixture = pinging()) {
      fixture.upstream().answer(SseWire.head(CHUNKED));
      for (int i = 0; i < 20; i++) {
        passInterval(fixture);
      }
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_FIRST_BYTE_TIMEOUT);
      assertThat(fixture.summary().end()).isEqualTo(End.TIMEOUT);
    }
    try (ExchangeFixture fixture = pinging()) {
      fixture.upstream().answer(SseWire.head(CHUNKED) + "9\r\ndata: 1\n\n\r\n");
      for (int i = 0; i < 20; i++) {
        passInterval(fixture);
      }
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_IDLE_TIMEOUT);
      assertThat(fixture.summary().end()).isEqualTo(End.TIMEOUT);
    }
  }

  @Test
  void aPingSaysNothingGoodOfTheEndpoint() {
    try (ExchangeFixture fixture = ExchangeFixture.pinging(TWO_ENDPOINTS, EVERY).forward()) {
      List<LiveEndpoint> idle = new ArrayList<>(fixture.cluster.endpoints());
      LiveEndpoint asked =
          idle.stream().filter(one -> one.openExchanges() == 1).findFirst().orElseThrow();
      idle.remove(asked);
      for (int i = 0; i < 4; i++) {
        assertThat(fixture.cluster.pick(Cluster.NO_PREFIX, idle, 0)).isSameAs(asked);
        fixture.cluster.ended(asked, Cluster.Outcome.FAILED, 0, 0);
      }
      fixture.upstream().answer(SseWire.head(CHUNKED));
      passInterval(fixture);
      assertThat(fixture.caller.answer().body()).isEqualTo(PING);
      fixture.upstream().reset();

      assertThat(asked.state(fixture.clockNanos)).isEqualTo(LiveEndpoint.State.EJECTED);
    }
  }

  @Test
  void noneStandsWithinAChunkOfTheUpstreams() {
    try (ExchangeFixture fixture = pinging()) {
      fixture.upstream().answer(SseWire.head(CHUNKED) + "12\r\ndata: 1\n\n");
      passInterval(fixture);
      fixture.upstream().answer("data: 2\n\n\r");
      passInterval(fixture);
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\ndata: 2\n\n");
      fixture.upstream().answer("\n");
      passInterval(fixture);
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\ndata: 2\n\n" + PING);
    }
  }

  @Test
  void noneStandsWithinAnEventThatWasSentUnfinished() {
    String event = "data: " + "x".repeat(StreamRelay.MAX_HELD_BYTES + 1000);
    for (String header : new String[] {CHUNKED, "content-length: 900000"}) {
      boolean chunked = header.equals(CHUNKED);
      try (ExchangeFixture fixture = pinging()) {
        fixture
            .upstream()
            .answer(SseWire.head(header) + (chunked ? SseWire.chunks(event, List.of()) : event));
        passInterval(fixture);
        assertThat(fixture.caller.answer().body()).isEqualTo(event);
        fixture.upstream().answer(chunked ? "2\r\n\n\n\r\n" : "\n\n");
        passInterval(fixture);
        assertThat(fixture.caller.answer().body()).isEqualTo(event + "\n\n" + PING);
      }
    }
  }

  @Test
  void aCallerWhoTakesNothingIsSentNone() {
    try (ExchangeFixture fixture = pinging()) {
      fixture.upstream().answer(SseWire.head(CHUNKED) + "9\r\ndata: 1\n\n\r\n");
      fixture.caller.unsent(40_000);
      passInterval(fixture);
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\n");
      fixture.caller.unsent(0);
      passInterval(fixture);
      assertThat(fixture.caller.answer().body()).isEqualTo("data: 1\n\n" + PING);
    }
  }

  @Test
  void noneStandsBehindTheEnd() {
    for (String end : new String[] {"d\r\ndata:[DONE]\n\n\r\n", END}) {
      try (ExchangeFixture fixture = pinging()) {
        fixture.caller.slow = true;
        fixture.upstream().answer(SseWire.head(CHUNKED) + end);
        String taken = fixture.caller.take();
        passInterval(fixture);
        assertThat(fixture.caller.take()).isEqualTo(taken);
        fixture.exchange.downstreamClosed();
        passInterval(fixture);
        assertThat(fixture.caller.take()).isEqualTo(taken);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {CHUNKED, "content-length: ", "x: y"})
  void aStreamWithPingsAnywhereIsTheSameStream(String header) {
    String payload =
        ": hi\n\nevent: a\r\ndata: 1\r\n\r\ndata: 2\r\rdata: 3\n\n"
            + SseWire.terminator(Operation.MESSAGES, "\n");
    boolean chunked = header.equals(CHUNKED);
    String body =
        chunked
            ? SseWire.chunks(payload, List.of(6, 9, 22, 31, 32, 33, 34, 40)) + "0\r\n\r\n"
            : payload;
    String head = SseWire.head(header.startsWith("content") ? header + payload.length() : header);
    int pings = 0;
    for (int cut = 0; cut < body.length(); cut++) {
      for (boolean http11 : new boolean[] {true, false}) {
        try (ExchangeFixture fixture =
            ExchangeFixture.pinging(Operation.MESSAGES, http11, EVERY).forward()) {
          fixture.upstream().answer(head);
          fixture.upstream().answer(body.substring(0, cut));
          passInterval(fixture);
          fixture.upstream().answer(body.substring(cut));
          fixture.upstream().close();

          Answer answer = fixture.caller.answer();
          assertThat(answer.end()).isEqualTo(http11 ? Answer.End.WHOLE : Answer.End.OPEN);
          int at = answer.body().indexOf(PING);
          if (at >= 0) {
            pings++;
            assertThat(SseWire.lastBoundary(answer.body().substring(0, at))).isEqualTo(at);
            assertThat(answer.body().substring(0, at) + answer.body().substring(at + PING.length()))
                .isEqualTo(payload);
          } else {
            assertThat(answer.body()).isEqualTo(payload);
          }
          assertThat(fixture.summary().events()).isEqualTo(4);
        }
      }
    }
    assertThat(pings).isGreaterThan(body.length() / 2);
  }
}
