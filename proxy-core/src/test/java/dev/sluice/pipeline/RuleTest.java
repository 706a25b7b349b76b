package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.STREAM_BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.Key;
import dev.sluice.access.Subscription;
import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.testing.Answer;
import dev.sluice.testing.Bytes;
import dev.sluice.testing.FakeUpstreams.Upstream;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each rule of the pipeline: what went in, what came out, whether the connection stays open, and
 * what was recorded.
 */
class RuleTest {
  private static final String CHAT = "/v1/chat/completions";

  private final PipelineFixture edge = new PipelineFixture();

  @AfterEach
  void close() {
    edge.close();
  }

  @Test
  void whatPassesEveryRuleIsForwardedAndAnswered() {
    edge.send(post(CHAT, BODY));
    Upstream upstream = edge.upstreams.last();
    assertThat(upstream.received()).endsWith("\r\n\r\n" + BODY);
    upstream.answer(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");

    assertThat(edge.answer().body()).isEqualTo("{}");
    assertThat(edge.channel.connection()).isEqualTo("open");
    ExchangeSummary summary = edge.summary();
    assertThat(summary.status()).isEqualTo(200);
    assertThat(summary.reason()).isNull();
    assertThat(summary.operation()).isEqualTo("chat_completions");
    assertThat(summary.model()).isEqualTo("small");
    assertThat(summary.plan()).isEqualTo("free");
    assertThat(summary.key()).isEqualTo("key-good");
    assertThat(summary.bytesIn()).isEqualTo(BODY.length());
    assertThat(summary.end()).isEqualTo(End.DONE);
  }

  @Test
  void beforeItIsReadyEveryRequestIs503() {
    try (PipelineFixture starting = PipelineFixture.starting()) {
      starting.state.maintenance().set(Maintenance.ALL, 1);
      starting.send("GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n");

      assertThat(starting.answer().status()).isEqualTo(503);
      assertThat(starting.summary().reason()).isEqualTo(Reason.STARTING);
      assertThat(starting.channel.connection()).isEqualTo("open");
    }
  }

  @Test
  void whileItDrainsEveryRequestIs503() {
    edge.state.drain();
    edge.state.ready();
    edge.state.maintenance().set(Maintenance.ALL, 1);
    edge.send("GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n");

    assertRefused(503, Reason.DRAINING, "closing");
  }

  @Test
  void aConnectionTooManyIsToldSoAndClosed() {
    edge.connect();
    edge.connect();
    DuplexEmbeddedChannel tooMany = edge.connect();
    tooMany.writeInbound(Bytes.of(get("/v1/models")));

    Answer answer = Answer.read(PipelineFixture.received(tooMany));
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.head()).contains("\r\nretry-after: ").contains("\r\nconnection: close\r\n");
    assertThat(tooMany.connection()).isEqualTo("closing");
    assertThat(edge.summary().reason()).isEqualTo(Reason.CONNECTION_LIMIT);
    edge.send(get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({"100001, closing", "9223372036854775807, closing", "99999999999999999999, closing"})
  void aBodyThatSaysItIsTooLargeIs413(String length, String connection) {
    edge.send("POST /v1/messages HTTP/1.1\r\nHost: h\r\nContent-Length: " + length + "\r\n\r\n");

    assertRefused(413, Reason.BODY_TOO_LARGE, connection);
  }

  @Test
  void aBodyThatBecomesTooLargeIs413() {
    edge.send(
        "POST /v1/messages HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer sk-good\r\n"
            + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    String chunk = "c350\r\n" + " ".repeat(50_000) + "\r\n";
    edge.send(chunk).send(chunk);
    assertThat(edge.received()).isEmpty();
    edge.send("1\r\n ");

    assertRefused(413, Reason.BODY_TOO_LARGE, "closing");
    edge.send("\r\n" + chunk);
    assertThat(edge.received()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "X: y",
        "Content-Type: text/plain",
        "Content-Type: application/json, application/json",
        "Content-Type: application/json\r\nContent-Type: application/json",
        "Content-Type:",
      })
  void whatIsNotJsonIs415(String lines) {
    edge.send(
        "POST /v1/messages HTTP/1.1\r\nHost: h\r\n" + lines + "\r\nContent-Length: 2\r\n\r\n{}");

    assertRefused(415, Reason.CONTENT_TYPE, "open");
  }

  @ParameterizedTest
  @CsvSource({
    "X: y, KEY_MISSING",
    "x-api-key: sk-good, KEY_MISSING",
    "Authorization: Basic sk-good, KEY_MALFORMED",
    "Authorization: Bearer sk-unknown, KEY_UNKNOWN",
    "Authorization: Bearer sk-revoked, KEY_REVOKED",
    "Authorization: Bearer sk-expired, KEY_EXPIRED",
  })
  void whoHasNoCurrentKeyIs401OnEveryPath(String line, Reason reason) {
    Subscription subscription = new Subscription("s", "free", true);
    edge.key("sk-revoked", new Key("k", subscription, null, true));
    edge.key("sk-expired", new Key("k", subscription, PipelineFixture.NOW, false));
    for (String path : new String[] {"/v1/models", "/nowhere", CHAT}) {
      edge.summaries.clear();
      edge.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n" + line + "\r\n\r\n");

      assertRefused(401, reason, "open");
    }
  }

  @Test
  void aKeyThatExpiresLaterIsGoodUntilThen() {
    edge.key(
        "sk-late",
        new Key("k", new Subscription("s", "free", true), PipelineFixture.NOW.plusNanos(1), false));
    edge.send("GET /v1/models HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer sk-late\r\n\r\n");

    assertThat(edge.answer().status()).isEqualTo(200);
  }

  @Test
  void aSubscriptionThatIsNotActiveIs403() {
    edge.key("sk-good", "free", false);
    edge.send(get("/nowhere"));

    assertRefused(403, Reason.SUBSCRIPTION_INACTIVE, "open");
    assertThat(edge.summary().key()).isEqualTo("key-good");
  }

  @Test
  void aSubscriptionOfAPlanThatIsNotConfiguredIs503() {
    edge.key("sk-good", "gone", true);
    edge.send(get("/v1/models"));

    assertRefused(503, Reason.KEY_DIRECTORY, "open");
  }

  @Test
  void whatIsNowhereIs404() {
    edge.send(get("/v1/model"));

    assertRefused(404, Reason.PATH_UNKNOWN, "open");
    assertThat(edge.summary().operation()).isEqualTo(ExchangeSummary.UNKNOWN);
  }

  @Test
  void anotherMethodIs405() {
    edge.send("DELETE /v1/models HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer sk-good\r\n\r\n");

    String received = edge.received();
    assertThat(received).contains("\r\nallow: GET, HEAD\r\n");
    assertThat(Answer.read(received).status()).isEqualTo(405);
    assertThat(edge.channel.connection()).isEqualTo("open");
    assertThat(edge.summary().reason()).isEqualTo(Reason.METHOD_NOT_ALLOWED);
  }

  @Test
  void aHeadRequestHasTheHeadOfGetAndNoBody() {
    edge.send(get("/v1/models"));
    String got = sameForAll(edge.received());
    edge.send(get("/v1/models").replaceFirst("GET", "HEAD"));
    String head = sameForAll(edge.received());

    assertThat(head).isEqualTo(got.substring(0, got.indexOf("\r\n\r\n") + 4));
    edge.send(get("/v1/models/none").replaceFirst("GET", "HEAD"));
    assertThat(edge.received()).startsWith("HTTP/1.1 404 ").endsWith("\r\n\r\n");
    edge.send(get("/nowhere", "Host: h").replaceFirst("GET", "HEAD"));
    assertThat(edge.received()).startsWith("HTTP/1.1 400 ").endsWith("\r\n\r\n");
    assertThat(edge.channel.connection()).isEqualTo("closing");
  }

  /** Without what no two answers share. */
  private static String sameForAll(String answer) {
    return answer.replaceAll("req_\\w+", "req_").replaceAll("date: [^\r]*", "date:");
  }

  @ParameterizedTest
  @CsvSource({"small, small", "sm%61ll, small"})
  void oneModelIsFoundByItsId(String path, String id) {
    edge.send(get("/v1/models/" + path));

    assertThat(edge.answer().body()).startsWith("{\"id\":\"" + id + "\"");
    assertThat(edge.summary().operation()).isEqualTo("get_model");
    assertThat(edge.channel.connection()).isEqualTo("open");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{                                     | JSON_MALFORMED",
        "{\"model\":\"small\"}                 | REQUEST_SHAPE",
        "{\"model\":1,\"messages\":[{}]}       | REQUEST_SHAPE",
      })
  void aBodyOfAnotherShapeIs400(String body, Reason reason) {
    edge.send(post(CHAT, body.strip()));

    assertRefused(400, reason, "open");
  }

  @Test
  void anEmptyBodyIs400() {
    edge.send(
        post(CHAT, BODY)
            .replaceFirst("Content-Length: \\d+", "Content-Length: 0")
            .replace(BODY, ""));

    assertRefused(400, Reason.JSON_MALFORMED, "open");
  }

  @Test
  void aModelThatIsNotListedIs404() {
    edge.send(post(CHAT, BODY.replace("small", "none")));

    assertRefused(404, Reason.MODEL_UNKNOWN, "open");
    assertThat(edge.summary().model()).isNull();
  }

  @Test
  void aModelThatIsNotInThePlanIs403() {
    edge.send(post(CHAT, BODY.replace("small", "big")));

    assertRefused(403, Reason.MODEL_NOT_IN_PLAN, "open");
    assertThat(edge.summary().model()).isEqualTo("big");
  }

  @Test
  void aStreamTooManyOfAKeyOrOfThePlanIs429AndIsNotStarted() {
    edge.key("sk-two", "free", true);
    edge.key("sk-three", "free", true);
    DuplexEmbeddedChannel second = edge.connect();
    edge.send(post(CHAT, STREAM_BODY));
    second.writeInbound(Bytes.of(post(CHAT, STREAM_BODY)));
    assertTooMany(second, Reason.SLOTS_OF_KEY, 1, "All 1 streams of this API key are in use.");

    second.writeInbound(Bytes.of(post(CHAT, STREAM_BODY).replace("sk-good", "sk-two")));
    assertThat(edge.slots.inUse("free")).isEqualTo(2);
    DuplexEmbeddedChannel third = edge.connect();
    third.writeInbound(Bytes.of(post(CHAT, STREAM_BODY).replace("sk-good", "sk-three")));
    assertTooMany(third, Reason.SLOTS_OF_PLAN, 2, "All 2 stream slots of the plan are in use.");
    assertThat(edge.slots.inUse("free")).isEqualTo(2);
    assertThat(edge.upstreams.opened()).isEqualTo(2);
    assertThat(edge.upstreams.last().isActive()).isTrue();
  }

  @Test
  void aStreamTooManyIsToldHowLongTheOthersHaveBeenBusy() {
    edge.key("sk-two", "free", true);
    edge.key("sk-three", "free", true);
    edge.send(post(CHAT, STREAM_BODY));
    edge.connect().writeInbound(Bytes.of(post(CHAT, STREAM_BODY).replace("sk-good", "sk-two")));
    edge.pass(Duration.ofSeconds(12));
    DuplexEmbeddedChannel third = edge.connect();
    third.writeInbound(Bytes.of(post(CHAT, STREAM_BODY).replace("sk-good", "sk-three")));

    assertThat(Answer.read(PipelineFixture.received(third)).head())
        .contains("\r\nretry-after: 12\r\n");
  }

  private void assertTooMany(
      DuplexEmbeddedChannel channel, Reason reason, int limit, String message) {
    Answer answer = Answer.read(PipelineFixture.received(channel));
    assertThat(answer.status()).isEqualTo(429);
    assertThat(answer.head())
        .contains("\r\nretry-after: 1\r\n")
        .contains("\r\nx-ratelimit-limit-streams: " + limit + "\r\n")
        .contains("\r\nx-ratelimit-remaining-streams: 0\r\n");
    assertThat(answer.body()).contains(message);
    assertThat(channel.connection()).isEqualTo("open");
    assertThat(edge.summary().reason()).isEqualTo(reason);
    assertThat(edge.summary().stream()).isFalse();
    edge.summaries.clear();
  }

  @Test
  void aBodyThatTheMemoryHasNoRoomForIs503() {
    String body = BODY.replaceFirst("\\{", "{\"x\":\"" + "y".repeat(80_000) + "\",");
    edge.send(post(CHAT, body));
    edge.connect().writeInbound(Bytes.of(post(CHAT, body)));
    long held = 2L * post(CHAT, body).length(); // the buffers that were read live with the bodies
    assertThat(edge.budget.heldBytes()).isEqualTo(held);
    DuplexEmbeddedChannel third = edge.connect();
    third.writeInbound(Bytes.of(post(CHAT, body)));

    Answer answer = Answer.read(PipelineFixture.received(third));
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.head()).contains("\r\nretry-after: ");
    assertThat(third.connection()).isEqualTo("open"); // the body was read to its end
    assertThat(edge.summary().reason()).isEqualTo(Reason.MEMORY_BUDGET);
    assertThat(edge.budget.heldBytes()).isEqualTo(held);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a/b\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http:// HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      })
  void aHeadThatMeansNothingOrTwoThingsIs400AndTheEndOfTheConnection(String head) {
    edge.send(head + get("/v1/models"));

    assertRefused(400, Reason.HTTP_MALFORMED, "closing");
    edge.send(get("/v1/models"));
    assertThat(edge.received()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET http://other/v1/models HTTP/1.1\r\nHost: h",
        "GET HTTPS://other:443/v1/models?x=y HTTP/1.1\r\nHost: h",
        "GET /v1/models HTTP/1.1\r\nHost: [::1]:80",
        "GET /v1/models HTTP/1.0\r\nX: y",
      })
  void everyOtherFormOfARightHeadIsRead(String head) {
    edge.send(head + "\r\nAuthorization: Bearer sk-good\r\n\r\n");

    assertThat(edge.answer().status()).isEqualTo(200);
  }

  private void assertRefused(int status, Reason reason, String connection) {
    String received = edge.received();
    Answer answer = Answer.read(received);
    ExchangeSummary summary = edge.summary();
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.end()).isEqualTo(Answer.End.WHOLE);
    assertThat(answer.body())
        .startsWith("{\"error\":{\"message\":\"")
        .endsWith(
            "\",\"type\":\""
                + reason.type().wireName()
                + "\"},\"request_id\":\""
                + summary.requestId()
                + "\"}");
    assertThat(answer.head())
        .contains("\r\nx-request-id: " + summary.requestId() + "\r\n")
        .contains("\r\ncontent-type: application/json\r\n");
    assertThat(answer.head().contains("\r\nwww-authenticate: Bearer\r\n")).isEqualTo(status == 401);
    assertThat(answer.head().contains("\r\nretry-after: ")).isEqualTo(status == 503);
    assertThat(answer.head()).doesNotContain("ratelimit");
    assertThat(answer.head().contains("\r\nconnection: close\r\n"))
        .isEqualTo(!connection.equals("open"));
    assertThat(edge.channel.connection()).isEqualTo(connection);
    assertThat(summary.status()).isEqualTo(status);
    assertThat(summary.reason()).isEqualTo(reason);
    assertThat(summary.end()).isEqualTo(End.DONE);
    assertThat(summary.bytesOut()).isEqualTo(received.length());
    assertThat(edge.upstreams.opened()).isZero();
  }
}
