package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.testing.Answer;
import dev.sluice.testing.FakeUpstreams.Upstream;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a connection's bytes become requests: one at a time, in time, within bounds. */
class RequestDecoderTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String JSON =
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

  private final PipelineFixture edge = new PipelineFixture();

  @AfterEach
  void close() {
    edge.close();
  }

  // One at a time.

  @Test
  void aRequestCutAnywhereIsOneRequest() {
    String request = post(CHAT, BODY);
    for (int cut = 1; cut < request.length(); cut++) {
      edge.send(request.substring(0, cut)).send(request.substring(cut));
      Upstream upstream = edge.upstreams.last();
      assertThat(upstream.received()).endsWith("\r\n\r\n" + BODY);
      upstream.answer(JSON);
      assertThat(edge.answer().status()).isEqualTo(200);
    }
    assertThat(edge.upstreams.opened()).isEqualTo(1);
    assertThat(edge.channel.connection()).isEqualTo("open");
  }

  @Test
  void aChunkedRequestCutAnywhereIsOneRequest() {
    String request =
        post(CHAT, BODY, "Transfer-Encoding: chunked")
            .replaceFirst("Content-Length: \\d+\r\n", "")
            .replace(
                BODY,
                "1;x=y\r\n{\r\n"
                    + Integer.toHexString(BODY.length() - 1)
                    + "\r\n"
                    + BODY.substring(1)
                    + "\r\n0\r\nContent-Length: 3\r\n\r\n");
    for (int cut = 1; cut < request.length(); cut++) {
      edge.send(request.substring(0, cut)).send(request.substring(cut));
      Upstream upstream = edge.upstreams.last();
      assertThat(upstream.received())
          .contains("\r\ncontent-length: " + BODY.length() + "\r\n")
          .endsWith("\r\n\r\n" + BODY);
      upstream.answer(JSON);
      assertThat(edge.answer().status()).isEqualTo(200);
    }
  }

  @Test
  void requestsThatAreSentAheadWaitForTheirTurn() {
    edge.send(post(CHAT, BODY) + get("/v1/models/small") + post(CHAT, BODY, "X-Third: 1"));
    Upstream upstream = edge.upstreams.last();
    assertThat(upstream.received()).doesNotContain("x-third");
    assertThat(edge.received()).isEmpty();

    upstream.answer(JSON);
    String answers = edge.received();
    assertThat(answers).containsSubsequence("{}HTTP/1.1 200 OK", "\"id\":\"small\"");
    assertThat(edge.upstreams.last().received()).contains("x-third: 1");
    edge.upstreams.last().answer(JSON);
    assertThat(edge.answer().body()).isEqualTo("{}");
    assertThat(edge.summaries).hasSize(3);
  }

  @Test
  void manyRequestsInOneReadAreAnsweredInTheirOrder() {
    int count = 2000;
    StringBuilder requests = new StringBuilder();
    for (int i = 0; i < count; i++) {
      requests.append(get("/v1/models/" + i));
    }
    edge.send(requests.toString());

    assertThat(edge.received().split("HTTP/1.1 404 ", -1)).hasSize(count + 1);
    assertThat(edge.summaries).hasSize(count);
    assertThat(edge.channel.connection()).isEqualTo("open");
  }

  @Test
  void whatIsSentAheadIsBounded() {
    edge.send(post(CHAT, BODY));
    edge.send("x".repeat(64 << 10));
    assertThat(edge.channel.config().isAutoRead()).isTrue();
    edge.send("x");
    assertThat(edge.channel.config().isAutoRead()).isFalse();

    edge.upstreams.last().answer(JSON);
    assertThat(edge.received()).startsWith("HTTP/1.1 200 OK").contains("{}HTTP/1.1 414 ");
    assertThat(edge.channel.config().isAutoRead()).isTrue();
    assertThat(edge.channel.connection()).isEqualTo("closing");
  }

  @Test
  void readingGoesOnWhenWhatWasSentAheadIsAllOneRequest() {
    edge.send(post(CHAT, BODY));
    edge.send(post(CHAT, BODY + " ".repeat(70 << 10)));
    assertThat(edge.channel.config().isAutoRead()).isFalse();

    edge.upstreams.last().answer(JSON);
    assertThat(edge.summaries).hasSize(1);
    // Else a caller who leaves while the second is under way would not be seen to.
    assertThat(edge.channel.config().isAutoRead()).isTrue();
  }

  @Test
  void afterTheLastAnswerOfAConnectionWhatComesIsDroppedForAShortTime() {
    edge.send(get("/v1/models", "Connection: close") + get("/v1/models"));
    assertThat(edge.answer().head()).contains("\r\nconnection: close\r\n");
    assertThat(edge.channel.connection()).isEqualTo("closing");

    edge.send(get("/v1/models")).send("x".repeat(1 << 20));
    assertThat(edge.received()).isEmpty();
    assertThat(edge.summaries).hasSize(1);
    edge.pass(Duration.ofMillis(1999));
    assertThat(edge.channel.connection()).isEqualTo("closing");
    edge.pass(Duration.ofMillis(1));
    assertThat(edge.channel.connection()).isEqualTo("closed");
  }

  @Test
  void http10ClosesUnlessAskedToStay() {
    String request = "GET /v1/models HTTP/1.0\r\nAuthorization: Bearer sk-good\r\n";
    edge.send(request + "Connection: keep-alive\r\n\r\n");
    assertThat(edge.answer().head()).contains("\r\nconnection: keep-alive\r\n");
    assertThat(edge.channel.connection()).isEqualTo("open");
    edge.send(request + "\r\n");
    assertThat(edge.answer().head()).contains("\r\nconnection: close\r\n");
    assertThat(edge.channel.connection()).isEqualTo("closing");
  }

  // Bodies that nobody wants.

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1000, 64 << 10})
  void aSmallBodyThatNobodyWantsIsSkipped(int bytes) {
    String refused = "POST /nowhere HTTP/1.1\r\nHost: h\r\nContent-Length: " + bytes + "\r\n\r\n";
    edge.send(refused);
    assertThat(edge.answer().status()).isEqualTo(401);
    edge.send("x".repeat(bytes / 2));
    edge.send("x".repeat(bytes - bytes / 2) + get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(200);
    assertThat(edge.channel.connection()).isEqualTo("open");
  }

  @Test
  void aLargeBodyThatNobodyWantsEndsTheConnection() {
    edge.send("POST /nowhere HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n");
    assertThat(edge.answer().head()).contains("\r\nconnection: close\r\n");
    assertThat(edge.channel.connection()).isEqualTo("closing");
  }

  @Test
  void aChunkedBodyThatNobodyWantsIsSkippedUpToABound() {
    String refused = "POST /nowhere HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    edge.send(refused + "5\r\nhello\r\n0\r\n\r\n" + get("/v1/models"));
    assertThat(edge.received()).startsWith("HTTP/1.1 401 ").contains("HTTP/1.1 200 OK");

    edge.send(refused);
    assertThat(edge.answer().status()).isEqualTo(401);
    edge.send("8000\r\n" + "x".repeat(32 << 10) + "\r\n");
    edge.send("8000\r\n" + "x".repeat(32 << 10) + "\r\n");
    assertThat(edge.channel.connection()).isEqualTo("open");
    edge.send("1\r\nx");
    assertThat(edge.channel.connection()).isEqualTo("closing");
  }

  @Test
  void aBodyThatNobodyWantsAndNobodyCanReadEndsTheConnection() {
    edge.send("POST /nowhere HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    assertThat(edge.answer().status()).isEqualTo(401);
    edge.send("-1\r\n" + get("/v1/models"));
    assertThat(edge.received()).isEmpty();
    assertThat(edge.channel.connection()).isEqualTo("closing");
  }

  @Test
  void aBodyThatNobodyWantsMustComeInTimeToo() {
    edge.send("POST /nowhere HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
    edge.received();
    edge.pass(Duration.ofSeconds(60));
    assertThat(edge.channel.connection()).isEqualTo("closed");
  }

  @Test
  void aCallerWhoWaitsFor100ContinueIsRefusedWithoutIt() {
    edge.send(
        "POST /nowhere HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    assertThat(edge.answer().status()).isEqualTo(401);
    assertThat(edge.channel.connection()).isEqualTo("closing");
  }

  @Test
  void aCallerWhoWaitsFor100ContinueHasItOnceItsHeadHasPassed() {
    String request = post(CHAT, BODY, "Expect: 100-Continue");
    int headEnd = request.indexOf("\r\n\r\n") + 4;
    edge.send(request.substring(0, headEnd));
    assertThat(edge.received()).isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
    edge.send(request.substring(headEnd));
    edge.upstreams.last().answer(JSON);
    assertThat(edge.answer().status()).isEqualTo(200);
    edge.send(request);
    edge.upstreams.last().answer(JSON);
    assertThat(edge.answer().status()).isEqualTo(200); // the body was here already
    assertThat(edge.channel.connection()).isEqualTo("open");
  }

  // In time.

  @Test
  void aHeadThatDoesNotComeInTimeIs408HoweverItTrickles() {
    String head = "GET /v1/models HTTP/1.1\r\nHost: h\r\n";
    for (int i = 0; i < 9; i++) {
      edge.send(head.substring(i, i + 1));
      edge.pass(Duration.ofSeconds(1));
      assertThat(edge.received()).isEmpty();
    }
    edge.pass(Duration.ofSeconds(1));

    Answer answer = edge.answer();
    assertThat(answer.status()).isEqualTo(408);
    assertThat(answer.body()).contains("10 seconds");
    assertThat(edge.channel.connection()).isEqualTo("closing");
    assertThat(edge.summary().reason()).isEqualTo(Reason.HEAD_TIMEOUT);
    edge.pass(Duration.ofSeconds(2));
    assertThat(edge.channel.connection()).isEqualTo("closed");
  }

  @Test
  void aConnectionThatSendsNothingIs408() {
    edge.pass(Duration.ofSeconds(10));
    assertThat(edge.answer().status()).isEqualTo(408);
    assertThat(edge.channel.connection()).isEqualTo("closing");
  }

  @Test
  void theBoundOnAHeadHoldsForALaterRequestToo() {
    edge.send(get("/v1/models"));
    edge.received();
    edge.pass(Duration.ofSeconds(70));
    edge.send("G");
    edge.pass(Duration.ofSeconds(9));
    assertThat(edge.channel.connection()).isEqualTo("open");
    edge.send("ET");
    edge.pass(Duration.ofSeconds(1));

    assertThat(edge.answer().status()).isEqualTo(408);
  }

  @Test
  void anEmptyLineBehindARequestIsNoneOfTheNext() {
    edge.send(get("/v1/models"));
    edge.received();
    edge.send("\r\n");
    edge.pass(Duration.ofSeconds(74));

    assertThat(edge.received()).isEmpty();
    assertThat(edge.channel.connection()).isEqualTo("open");
    edge.send(get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(200);
  }

  @Test
  void aConnectionWithoutANextRequestIsClosedWithoutAWord() {
    edge.send(get("/v1/models"));
    edge.received();
    edge.pass(Duration.ofSeconds(75).minusNanos(1));
    assertThat(edge.channel.connection()).isEqualTo("open");
    edge.pass(Duration.ofNanos(1));

    assertThat(edge.received()).isEmpty();
    assertThat(edge.channel.connection()).isEqualTo("closed");
    assertThat(edge.summaries).hasSize(1);
  }

  @Test
  void aBodyThatDoesNotComeInTimeIs408HoweverItTrickles() {
    String request = post(CHAT, BODY);
    edge.send(request.substring(0, request.length() - 20));
    edge.pass(Duration.ofSeconds(59));
    edge.send(" ");
    edge.pass(Duration.ofSeconds(1));

    assertThat(edge.answer().status()).isEqualTo(408);
    assertThat(edge.channel.connection()).isEqualTo("closing");
    assertThat(edge.summary().reason()).isEqualTo(Reason.BODY_TIMEOUT);
  }

  @Test
  void anAnswerMayTakeLongerThanAnyRequestMay() {
    edge.send(post(CHAT, BODY));
    edge.pass(Duration.ofMinutes(2));
    edge.upstreams.last().answer(JSON);
    assertThat(edge.answer().status()).isEqualTo(200);
    assertThat(edge.channel.connection()).isEqualTo("open");
  }

  // Callers who leave.

  @Test
  void aCallerWhoLeavesWithinARequestLeavesNothingBehind() {
    String request = post(CHAT, BODY);
    for (int cut = 1; cut <= request.length(); cut++) {
      try (PipelineFixture fresh = new PipelineFixture()) {
        fresh.send(request.substring(0, cut));
        fresh.channel.close();
        boolean begun = cut >= request.indexOf("\r\n\r\n") + 4;
        assertThat(fresh.summaries).hasSize(begun ? 1 : 0);
        if (begun) {
          assertThat(fresh.summary().end()).isEqualTo(End.CLIENT);
          assertThat(fresh.summary().status()).isZero();
        }
        assertThat(fresh.state.openExchanges()).isZero();
        assertThat(fresh.budget.heldBytes()).isZero();
      }
    }
  }

  @Test
  void aBrokenBodyIs400() {
    edge.send(
        post(CHAT, "5", "Transfer-Encoding: chunked").replaceFirst("Content-Length: \\d+\r\n", "")
            + "\r\nhello!!");

    assertThat(edge.answer().status()).isEqualTo(400);
    assertThat(edge.channel.connection()).isEqualTo("closing");
    assertThat(edge.summary().reason()).isEqualTo(Reason.HTTP_MALFORMED);
  }
}
