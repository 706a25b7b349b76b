package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.http.HttpDate;
import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import dev.sluice.upstream.ConnectionCounts.State;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One try at one endpoint, but for the relay of a stream. */
class AttemptTest {
  private static final String STREAM =
      SseWire.head("transfer-encoding: chunked") + "d\r\ndata:[DONE]\n\n\r\n0\r\n\r\n";

  @Test
  void theRequestGoesOnWithItsBodyAsItCame() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      String received = fixture.upstream().received();

      assertThat(received)
          .startsWith("POST /v1/chat/completions HTTP/1.1\r\nhost: 10.0.0.1:8000\r\n")
          .contains("\r\ncontent-length: " + ExchangeFixture.BODY.length() + "\r\n")
          .contains("\r\nx-request-id: " + fixture.exchange.requestId() + "\r\n")
          .endsWith("\r\n\r\n" + ExchangeFixture.BODY);
      assertThat(fixture.connections.count(State.ACTIVE)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, 400, UPSTREAM_REFUSED",
    "401, 502, UPSTREAM_DENIED",
    "403, 502, UPSTREAM_DENIED",
    "404, 502, UPSTREAM_DENIED",
    "413, 413, UPSTREAM_REFUSED_SIZE",
    "415, 400, UPSTREAM_REFUSED",
    "422, 400, UPSTREAM_REFUSED",
    "429, 503, UPSTREAM_RATE_LIMITED",
    "500, 502, UPSTREAM_STATUS",
    "502, 502, UPSTREAM_BAD_GATEWAY",
    "503, 503, UPSTREAM_UNAVAILABLE",
    "504, 502, UPSTREAM_STATUS",
    "301, 502, UPSTREAM_DENIED",
    "304, 502, UPSTREAM_DENIED",
  })
  void aStatusOtherThan2xxBecomesOurs(int theirs, int ours, Reason reason) {
    for (boolean stream : new boolean[] {true, false}) {
      try (ExchangeFixture fixture =
          ExchangeFixture.of(Operation.MESSAGES, stream, true).forward()) {
        fixture
            .upstream()
            .answer(
                "HTTP/1.1 "
                    + theirs
                    + " X\r\ncontent-type: text/html\r\n"
                    + "content-length: 4\r\n\r\n<p/>");
        fixture.inspect();

        assertThat(fixture.caller.answer().status()).isEqualTo(ours);
        assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
        assertThat(fixture.caller.answer().head().contains("\r\nretry-after: "))
            .isEqualTo(ours == 503);
        assertThat(fixture.summary().reason()).isEqualTo(reason);
        assertThat(fixture.summary().end()).isEqualTo(End.DONE);
        assertNothingHeld(fixture);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1",
    "30, 30",
    "3600, 3600",
    "3601, 5",
    "0, 5",
    "-1, 5",
    "1.5, 5",
    "99999999999, 5",
    "'Wed, 21 Oct 2015 07:28:00 GMT', 5",
    "'', 5",
    "+7, 5",
  })
  void aSaneRetryAfterIsPassedOn(String theirs, String ours) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture
          .upstream()
          .answer("HTTP/1.1 503 X\r\nretry-after: " + theirs + "\r\ncontent-length: 0\r\n\r\n");

      assertThat(fixture.caller.answer().head()).contains("\r\nretry-after: " + ours + "\r\n");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'Wed, 21 Oct 2015 07:28:30 GMT', 30",
    "'Wednesday, 21-Oct-15 07:28:30 GMT', 30",
    "'Wed, 21 Oct 2015 08:28:00 GMT', 3600",
    "'Wed, 21 Oct 2015 08:28:01 GMT', 5",
    "'Wed, 21 Oct 2015 07:28:00 GMT', 5",
    "'Wed, 21 Oct 2015 07:27:59 GMT', 5",
    "soon, 5",
  })
  void aDateIsSoLongFromTheUpstreamsOwnTime(String theirs, String ours) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture
          .upstream()
          .answer(
              "HTTP/1.1 503 X\r\ndate: Wed, 21 Oct 2015 07:28:00 GMT\r\nretry-after: "
                  + theirs
                  + "\r\ncontent-length: 0\r\n\r\n");

      assertThat(fixture.caller.answer().head()).contains("\r\nretry-after: " + ours + "\r\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "date: x\r\n"})
  void whereItTellsNoTimeOursCounts(String date) {
    String inAnHour = HttpDate.at(System.currentTimeMillis() + 3_600_000);
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture
          .upstream()
          .answer("HTTP/1.1 429 X\r\n" + date + "retry-after: " + inAnHour + "\r\n\r\n");

      Matcher wait =
          Pattern.compile("\r\nretry-after: (\\d+)\r\n").matcher(fixture.caller.answer().head());
      assertThat(wait.find()).isTrue();
      assertThat(Integer.parseInt(wait.group(1))).isBetween(1800, 3600);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "content-type: application/json",
        "content-type: text/plain",
        "content-type: text/event-streams",
        "content-type: text/event-stream\r\ncontent-encoding: gzip",
        "x: y",
      })
  void aStreamOfAnotherKindIs502(String lines) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer("HTTP/1.1 200 OK\r\n" + lines + "\r\ncontent-length: 2\r\n\r\n{}");

      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_CONTENT_TYPE);
      assertNothingHeld(fixture);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 X\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "hello",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1\r\n"
            + "transfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1\r\n"
            + "content-length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            + "transfer-encoding: gzip, chunked\r\n\r\n",
      })
  void whatIsNotAnAnswerIs502(String bytes) {
    for (int cut = 0; cut < bytes.length(); cut++) {
      try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
        fixture.upstream().answer(bytes.substring(0, cut));
        fixture.upstream().answer(bytes.substring(cut));
        if (fixture.summaries.isEmpty()) {
          fixture.upstream().answer("\r\n");
        }

        assertThat(fixture.caller.answer().status()).isEqualTo(502);
        assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_PROTOCOL);
        assertNothingHeld(fixture);
      }
    }
  }

  @Test
  void anInterimAnswerIsPassedOver() {
    String wire =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + STREAM;
    for (int cut = 1; cut < wire.length(); cut++) {
      try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
        fixture.upstream().answer(wire.substring(0, cut));
        fixture.upstream().answer(wire.substring(cut));

        assertThat(fixture.caller.answer().body()).isEqualTo("data:[DONE]\n\n");
        assertThat(fixture.caller.answer().head()).doesNotContainIgnoringCase("link");
        assertThat(fixture.connections.count(State.IDLE)).isEqualTo(1);
      }
    }
  }

  @Test
  void noAnswerInTimeIs502() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer("HTTP/1.1 200 OK\r\n");
      fixture.pass(Duration.ofMinutes(5).toNanos() - 1);
      assertThat(fixture.caller.take()).isEmpty();
      fixture.pass(1);

      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_FIRST_BYTE_TIMEOUT);
      assertThat(fixture.upstream().isActive()).isFalse();
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aHeadDoesNotEndTheWaitForTheFirstByteOfABody() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.pass(Duration.ofMinutes(4).toNanos());
      fixture.upstream().answer(SseWire.head("transfer-encoding: chunked"));
      fixture.pass(Duration.ofMinutes(1).toNanos());

      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_FIRST_BYTE_TIMEOUT);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"content-length: 13", "transfer-encoding: chunked", "x: y"})
  void aJsonAnswerIsSentWholeWithItsLength(String header) {
    String json = "{\"a\":\"b\",\n1}".replace("1", "\"c\":1");
    for (int cut = 0; cut <= json.length(); cut++) {
      try (ExchangeFixture fixture =
          ExchangeFixture.of(Operation.MESSAGES, false, cut % 2 == 0).forward()) {
        boolean chunked = header.startsWith("transfer");
        String length = header.replace("13", Integer.toString(json.length()));
        fixture
            .upstream()
            .answer("HTTP/1.1 201 X\r\ncontent-type: application/json\r\n" + length + "\r\n\r\n");
        for (String piece : new String[] {json.substring(0, cut), json.substring(cut)}) {
          fixture.upstream().answer(chunked ? SseWire.chunks(piece, List.of()) : piece);
        }
        assertThat(chunked ? fixture.caller.take() : "").isEmpty();
        if (chunked) {
          fixture.upstream().answer("0\r\n\r\n");
        } else if (header.equals("x: y")) {
          fixture.upstream().close();
        }

        assertThat(fixture.caller.answer().status()).isEqualTo(201);
        assertThat(fixture.caller.answer().body()).isEqualTo(json);
        assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
        assertThat(fixture.summary().end()).isEqualTo(End.DONE);
        assertNothingHeld(fixture);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "{} x", "[1,]", "<p/>", "{\"a\":1}{\"b\":2}"})
  void anAnswerThatIsNotJsonIs502(String body) {
    try (ExchangeFixture fixture = ExchangeFixture.of(Operation.MESSAGES, false, true).forward()) {
      fixture.upstream().answer(json(body));

      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_ANSWER);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aJsonAnswerThatBreaksOffIs502() {
    String wire = json("{\"a\":1}");
    for (int cut = 0; cut < wire.length(); cut++) {
      try (ExchangeFixture fixture =
          ExchangeFixture.of(Operation.MESSAGES, false, true).forward()) {
        fixture.upstream().answer(wire.substring(0, cut));
        fixture.upstream().close();

        assertThat(fixture.caller.answer().status()).isEqualTo(502);
        assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_CLOSED);
        assertNothingHeld(fixture);
      }
    }
  }

  @Test
  void aLargeAnswerIsLookedAtOffTheLoop() {
    String body = "{\"a\":\"" + "x".repeat(Look.MAX_ON_LOOP_BYTES) + "\"}";
    try (ExchangeFixture fixture = ExchangeFixture.of(Operation.MESSAGES, false, true).forward()) {
      fixture.upstream().answer(json(body));
      assertThat(fixture.caller.take()).isEmpty();
      assertThat(fixture.connections.count(State.IDLE)).isEqualTo(1);
      fixture.inspect();

      assertThat(fixture.caller.answer().body()).isEqualTo(body);
      assertThat(fixture.summary().end()).isEqualTo(End.DONE);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aCallerWhoLeavesWhileALargeAnswerIsLookedAtLeavesNothingBehind() {
    String body = "{\"a\":\"" + "x".repeat(Look.MAX_ON_LOOP_BYTES) + "\"}";
    try (ExchangeFixture fixture = ExchangeFixture.of(Operation.MESSAGES, false, true).forward()) {
      fixture.upstream().answer(json(body));
      fixture.exchange.downstreamClosed();
      fixture.inspect();

      assertThat(fixture.caller.take()).isEmpty();
      assertThat(fixture.summary().end()).isEqualTo(End.CLIENT);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void anAnswerThatNobodyCanLookAtIsAFaultThatLeavesNothingBehind() {
    String body = "{\"a\":\"" + "x".repeat(Look.MAX_ON_LOOP_BYTES) + "\"}";
    try (ExchangeFixture fixture = ExchangeFixture.of(Operation.MESSAGES, false, true).forward()) {
      fixture.inspectorsFail = true;
      fixture.upstream().answer(json(body));

      assertThat(fixture.caller.answer().status()).isEqualTo(500);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.INTERNAL);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void theUpstreamsOwnMessageIsPassedOnInOurShape() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      String body = "{\"error\":{\"message\":\"max_tokens: \\\"x\\\" is wrong\",\"type\":\"t\"}}";
      fixture.upstream().answer(json(body).replace("200 OK", "400 X"));

      assertThat(fixture.caller.answer().body())
          .startsWith("{\"error\":{\"message\":\"max_tokens: \\\"x\\\" is wrong\",\"type\":")
          .endsWith("\"request_id\":\"" + fixture.exchange.requestId() + "\"}");
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_REFUSED);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aPooledConnectionThatDiedIsRetriedOnceOverAFreshOne() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(STREAM);
      assertThat(fixture.summaries).hasSize(1);
      Exchange second = fixture.forwardAnother();
      assertThat(fixture.upstreams.opened()).isEqualTo(1);
      fixture.upstream().received();

      fixture.upstream().reset();
      fixture.run();
      assertThat(fixture.upstreams.opened()).isEqualTo(2);
      assertThat(fixture.upstream().received())
          .contains(second.requestId())
          .endsWith(ExchangeFixture.BODY);

      fixture.upstream().reset();
      fixture.run();
      assertThat(fixture.upstreams.opened()).isEqualTo(2);
      assertThat(fixture.summaries).hasSize(2);
      assertThat(fixture.summaries.get(1).reason()).isEqualTo(Reason.UPSTREAM_CLOSED);
      assertThat(fixture.summaries.get(1).status()).isEqualTo(502);
      assertThat(fixture.slots.inUse("free")).isZero();
      assertThat(fixture.budget.heldBytes()).isZero();
    }
  }

  @Test
  void aPooledConnectionThatDiesBehindOneByteOfItsAnswerIsNotRetried() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(STREAM);
      fixture.forwardAnother();
      fixture.upstream().answer("H");
      fixture.upstream().close();
      fixture.run();

      assertThat(fixture.upstreams.opened()).isEqualTo(1);
      assertThat(fixture.summaries.get(1).reason()).isEqualTo(Reason.UPSTREAM_CLOSED);
    }
  }

  @Test
  void aFreshConnectionThatDiesIsNotRetried() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().close();
      fixture.run();

      assertThat(fixture.upstreams.opened()).isEqualTo(1);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_CLOSED);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aCallerWhoLeavesWhileTheUpstreamIsConnectingLeavesNothingBehind() {
    try (ExchangeFixture fixture = ExchangeFixture.stream()) {
      fixture.exchange.forward();
      fixture.exchange.downstreamClosed();
      fixture.run();

      assertThat(fixture.summary().end()).isEqualTo(End.CLIENT);
      assertThat(fixture.upstream().isActive()).isFalse();
      assertThat(fixture.upstream().received()).isEmpty();
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aWholeAnswerIsOfTheBudgetUntilTheCallerHasIt() {
    try (ExchangeFixture fixture =
        ExchangeFixture.of(Operation.CHAT_COMPLETIONS, false, true).forward()) {
      fixture.caller.slow = true;
      String body = "{\"x\":\"" + "x".repeat(1 << 20) + "\"}";
      fixture.upstream().answer(json(body));
      fixture.inspect();
      assertThat(fixture.budget.heldBytes()).isGreaterThanOrEqualTo(body.length());

      fixture.caller.deliver(true);
      assertThat(fixture.caller.answer().body()).isEqualTo(body);
      assertNothingHeld(fixture);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'no such field: top_q', 'no such field: top_q'",
    "'not by 110.0.0.10', 'not by 110.0.0.10'",
    "'ask 10.0.0.1 for more', 'The model refused the request as invalid.'",
    "'at http://10.0.0.1:8000/v1', 'The model refused the request as invalid.'",
  })
  void aMessageThatSaysWhereTheUpstreamIsIsNotPassedOn(String theirs, String ours) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      String body = "{\"message\":\"" + theirs + "\"}";
      fixture
          .upstream()
          .answer("HTTP/1.1 400 X\r\ncontent-length: " + body.length() + "\r\n\r\n" + body);

      assertThat(fixture.caller.answer().body()).contains("\"message\":\"" + ours + "\"");
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aListenerThatFailsDoesNotKeepItsConnectionFromTheNextRequest() {
    try (ExchangeFixture fixture = ExchangeFixture.stream()) {
      fixture.listener =
          summary -> {
            throw new IllegalStateException("made to fail");
          };
      fixture.forward();
      fixture.upstream().answer(STREAM);

      assertThat(fixture.caller.answer().end()).isEqualTo(Answer.End.WHOLE);
      assertNothingHeld(fixture);
    }
  }

  private static String json(String body) {
    return "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  private static void assertNothingHeld(ExchangeFixture fixture) {
    assertThat(fixture.slots.inUse("free")).isZero();
    assertThat(fixture.budget.heldBytes()).isZero();
    assertThat(fixture.caller.exchangesEnded).isEqualTo(1);
    assertThat(fixture.connections.count(State.ACTIVE)).isZero();
    assertThat(fixture.connections.count(State.CONNECTING)).isZero();
  }
}
