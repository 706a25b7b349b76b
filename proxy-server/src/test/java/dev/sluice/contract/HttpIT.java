package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MAX_BODY_BYTES;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.assertOpen;
import static dev.sluice.contract.Scene.body;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Recorded;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import dev.sluice.testing.Wire;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What of HTTP is taken, and how connections live on. */
class HttpIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String JSON = body("small", "");

  // Limits of a head.

  @Test
  void aRequestLineOfTheBoundIsReadAndOneByteMoreIs414() {
    String fixed = "GET /v1/models? HTTP/1.1";
    String padding = "x".repeat(8192 - fixed.length());

    assertThat(SCENE.exchange(list().line("GET /v1/models?" + padding + " HTTP/1.1")).status())
        .isEqualTo(200);
    assertRefused(list().line("GET /v1/models?" + padding + "x HTTP/1.1"), 414);
  }

  @Test
  void aRequestLineThatDoesNotEndIs414() {
    try (RawClient client = SCENE.client()) {
      client.sendAsFarAsTaken("GET /" + "x".repeat(20_000));
      assertError(client.read(), 414);
      client.assertClosed();
    }
  }

  @Test
  void aHeaderBlockBelowTheBoundIsReadAndOneAboveIs431() {
    assertThat(SCENE.exchange(list().header("X-A", "x".repeat(31_000))).status()).isEqualTo(200);
    assertRefused(list().header("X-A", "x".repeat(33_000)), 431);
    assertRefused(withHeaders(list(), 60, "x".repeat(600)), 431);
  }

  @Test
  void aHeaderBlockThatDoesNotEndIs431() {
    try (RawClient client = SCENE.client()) {
      client.sendAsFarAsTaken("GET / HTTP/1.1\r\nHost: a\r\nX-A: " + "x".repeat(100_000));
      assertError(client.read(), 431);
      client.assertClosed();
    }
  }

  @Test
  void aHundredHeaderLinesAreReadAndOneMoreIs431() {
    Request of98 = withHeaders(list(), 98, "x");

    assertThat(SCENE.exchange(of98).status()).isEqualTo(200);
    assertRefused(of98.header("X-Last", "1"), 431);
  }

  private static Request withHeaders(Request request, int count, String value) {
    Request more = request;
    for (int i = 0; i < count; i++) {
      more = more.header("X-" + i, value);
    }
    return more;
  }

  private static void assertRefused(Request request, int status) {
    try (RawClient client = SCENE.client()) {
      client.sendAsFarAsTaken(request.wire() + list().wire());
      assertError(client.read(), status);
      client.assertClosed();
    }
  }

  // Targets.

  @ParameterizedTest(name = "GET {0}")
  @ValueSource(
      strings = {
        "/",
        "/v1",
        "/v1/",
        "/v1/models/",
        "//v1/models",
        "/v1//models",
        "/v1/./models",
        "/v1/x/../models",
        "/v1/%6dodels",
        "/v1%2Fmodels",
        "/V1/models",
        "/v1/Models",
        "/v1/models;a=b",
        "/v1/models%3Fa",
        "/v2/models",
        "/metrics",
        "/healthz",
        "/readyz",
        "/v1/modelsx",
        "/favicon.ico"
      })
  void aPathIsMatchedAsItWasSentAndElseIs404AfterTheKey(String path) {
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(Request.get(path)), 401);
      assertError(client.exchange(Request.get(path).key(PRO)), 404);
      assertOpen(client);
    }
  }

  @ParameterizedTest(name = "POST {0}")
  @ValueSource(
      strings = {
        "/v1/chat/completions/",
        "/v1/chat//completions",
        "/v1/chat/./completions",
        "/v1/chat%2Fcompletions",
        "/v1/Messages",
        "/v1/messages/count_tokens",
        "/v1/messages%00"
      })
  void aPathNextToAnOperationIsNotIt(String path) {
    assertError(SCENE.exchange(Request.post(path, JSON).key(PRO)), 404);
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @ParameterizedTest(name = "GET {0}")
  @ValueSource(
      strings = {
        "http://sluice.test/v1/models",
        "HTTP://other.test:8080/v1/models?limit=1",
        "https://sluice.test/v1/models"
      })
  void anAbsoluteTargetIsReadAsItsPath(String uri) {
    assertThat(SCENE.exchange(Request.get(uri).key(PRO)).status()).isEqualTo(200);
  }

  @Test
  void anAbsoluteTargetReachesTheUpstreamAsPathAndQuery() {
    Request request = chat("small").line("POST http://a.test" + CHAT + "?x=%2F HTTP/1.1");

    assertThat(SCENE.exchange(request).status()).isEqualTo(200);
    Recorded recorded = SCENE.upstream.take();
    assertThat(recorded.line()).isEqualTo("POST " + CHAT + "?x=%2F HTTP/1.1");
    assertThat(recorded.header("host")).isEqualTo("127.0.0.1:" + SCENE.upstream.port());
  }

  @ParameterizedTest(name = "{0} {1} allows {2}")
  @CsvSource({
    "POST, /v1/models, 'GET, HEAD'",
    "DELETE, /v1/models/small, 'GET, HEAD'",
    "OPTIONS, /v1/models, 'GET, HEAD'",
    "get, /v1/models, 'GET, HEAD'",
    "TRACE, /v1/models, 'GET, HEAD'",
    "GET, /v1/chat/completions, POST",
    "HEAD, /v1/chat/completions, POST",
    "PUT, /v1/messages, POST",
    "OPTIONS, /v1/messages, POST",
    "PATCH, /v1/embeddings, POST",
    "BREW, /v1/embeddings, POST"
  })
  void aMethodThatAKnownPathDoesNotTakeIs405WithAllow(String method, String path, String allow) {
    try (RawClient client = SCENE.client()) {
      Request request =
          Request.of(method, path).key(PRO).header("Content-Type", "application/json");
      Answer answer = client.exchange(request);
      assertThat(answer.status()).isEqualTo(405);
      assertThat(List.of(answer.header("allow").split("\\s*,\\s*", -1)))
          .containsExactlyInAnyOrder(allow.split(", ", -1));
      if (!method.equals("HEAD")) {
        assertError(answer, 405);
      }
      assertOpen(client);
    }
  }

  @Test
  void aTunnelIsNeverOpened() {
    try (RawClient client = SCENE.client()) {
      client.send(Request.of("CONNECT", "sluice.test:443").key(PRO));
      assertThat(client.read().status()).isIn(400, 404, 405);
    }
  }

  @Test
  void anUpgradeIsNotTaken() {
    try (RawClient client = SCENE.client()) {
      Request request = list().header("Connection", "Upgrade").header("Upgrade", "websocket");
      assertThat(client.exchange(request).status()).isEqualTo(200);
      Request h2c =
          list()
              .header("Connection", "Upgrade, HTTP2-Settings")
              .header("Upgrade", "h2c")
              .header("HTTP2-Settings", "AAMAAABkAAQAoAAAAAIAAAAA");
      assertThat(client.exchange(h2c).status()).isEqualTo(200);
      assertOpen(client);
    }
  }

  // Expect.

  @ParameterizedTest(name = "Expect: {0}")
  @ValueSource(strings = {"100-continue", "100-Continue"})
  void continueIsSaidWhenTheHeadHasPassed(String expectation) {
    Request request = chat("small").header("Expect", expectation);
    try (RawClient client = SCENE.client()) {
      client.send(request.head());
      assertThat(client.read().status()).isEqualTo(100);
      client.send(request.body());
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(SCENE.upstream.take().headers("expect")).isEmpty();
      assertOpen(client);
    }
  }

  @Test
  void continueIsSaidBeforeAChunkedBody() {
    Request request = chat("small").chunked(10).header("Expect", "100-continue");
    try (RawClient client = SCENE.client()) {
      client.send(request.head());
      assertThat(client.read().status()).isEqualTo(100);
      client.send(request.body());
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @Test
  void continueIsNotSaidWhenTheHeadHasFailed() {
    Request good = chat("small").header("Expect", "100-continue");
    assertAnsweredWithoutContinue(good.without("Authorization"), 401);
    assertAnsweredWithoutContinue(good.key(Scene.INACTIVE), 403);
    assertAnsweredWithoutContinue(good.without("Content-Type"), 415);
    assertAnsweredWithoutContinue(good.line("POST /nothing HTTP/1.1"), 404);
    assertAnsweredWithoutContinue(good.line("PUT " + CHAT + " HTTP/1.1"), 405);
    assertAnsweredWithoutContinue(good.rawBody("").header("Content-Length", "65537"), 413);
    assertAnsweredWithoutContinue(good.without("Host"), 400);
  }

  private static void assertAnsweredWithoutContinue(Request request, int status) {
    try (RawClient client = SCENE.client()) {
      client.send(request.head());
      assertError(client.read(), status);
    }
  }

  @Test
  void aClientThatDoesNotWaitForContinueIsServed() {
    try (RawClient client = SCENE.client()) {
      client.send(chat("small").header("Expect", "100-continue"));
      Answer answer = client.read();
      assertThat(answer.status() == 100 ? client.read().status() : answer.status()).isEqualTo(200);
      assertOpen(client);
    }
  }

  @Test
  void anExpectationOfAnHttp10ClientIsIgnored() {
    Request request = chat("small").http10().header("Expect", "100-continue");
    try (RawClient client = SCENE.client()) {
      client.send(request.head());
      client.assertSilent(Duration.ofMillis(100));
      client.send(request.body());
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @Test
  void anUnknownExpectationIs400AfterTheKey() {
    Request request = chat("small").header("Expect", "200-maybe");

    assertError(SCENE.exchange(request.without("Authorization")), 401);
    assertError(SCENE.exchange(request), 400);
  }

  // The life of a connection.

  @Test
  void aConnectionServesOneRequestAfterTheOther() {
    try (RawClient client = SCENE.client()) {
      SCENE.upstream.answers(Script.json("{\"n\":1}"), Script.stream("data: 2\n\n", Script.DONE));
      assertThat(client.exchange(chat("small")).text()).isEqualTo("{\"n\":1}");
      Answer stream = client.exchange(stream(CHAT, "small"));
      assertThat(stream.ending()).isEqualTo(Ending.WHOLE);
      assertThat(stream.text()).isEqualTo("data: 2\n\n" + Script.DONE);
      assertThat(stream.version()).isEqualTo("HTTP/1.1");
      assertThat(stream.headers("connection")).isEmpty();
      assertOpen(client);
    }
  }

  @ParameterizedTest(name = "Connection: {0}")
  @ValueSource(strings = {"close", "Close", "keep-alive, close", "x ,CLOSE"})
  void aClientThatAsksForItIsClosed(String value) {
    for (Request request :
        List.of(
            list(), chat("small"), chat("none"), stream(CHAT, "small").without("Content-Type"))) {
      try (RawClient client = SCENE.client()) {
        client.sendAsFarAsTaken(request.header("Connection", value).wire() + list().wire());
        Answer answer = client.read();
        assertThat(answer.header("connection")).isEqualToIgnoringCase("close");
        assertThat(answer.ending()).isEqualTo(Ending.WHOLE);
        client.assertClosed();
      }
    }
  }

  @Test
  void anHttp10ClientIsClosedUnlessItAsksToStay() {
    try (RawClient client = SCENE.client()) {
      Answer answer = client.exchange(list().http10());
      assertThat(answer.status()).isEqualTo(200);
      client.assertClosed();
    }
    try (RawClient client = SCENE.client()) {
      Request stay = list().http10().header("Connection", "Keep-Alive");
      Answer answer = client.exchange(stay);
      assertThat(answer.header("connection")).isEqualToIgnoringCase("keep-alive");
      assertThat(client.exchange(chat("small").http10()).status()).isEqualTo(200);
      client.assertClosed();
    }
  }

  @Test
  void anHttp10ClientGetsAStreamWithoutChunksThatEndsWithTheConnection() {
    SCENE.upstream.always(Script.stream("data: 1\n\n", Script.MESSAGE_STOP));
    Request request = stream(MESSAGES, "small").http10();
    for (Request each : List.of(request, request.header("Connection", "keep-alive"))) {
      Answer answer = SCENE.exchange(each);

      assertThat(answer.headers("transfer-encoding")).isEmpty();
      assertThat(answer.ending()).isEqualTo(Ending.UNTIL_CLOSE);
      assertThat(answer.text()).isEqualTo("data: 1\n\n" + Script.MESSAGE_STOP);
    }
  }

  @Test
  void anHttp10ErrorHasALengthAndTheShape() {
    assertError(SCENE.exchange(Request.get("/v1/models").http10()), 401);
    assertError(SCENE.exchange(chat("none").http10()), 404);
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() {
    SCENE.upstream.answers(
        Script.trickle(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                + "Content-Length: 7\r\n\r\n{\"n\":1}"),
        Script.stream("data: 2\n\n", Script.DONE),
        Script.json("{\"n\":3}"));
    StringBuilder wire = new StringBuilder();
    wire.append(chat("small").wire()).append(list().wire());
    wire.append(stream(CHAT, "small").chunked(9).wire()).append(chat("none").wire());
    wire.append(Request.of("HEAD", "/v1/models").key(PRO).wire()).append(chat("small").wire());
    try (RawClient client = SCENE.client()) {
      client.send(wire.toString());

      assertThat(client.read().text()).isEqualTo("{\"n\":1}");
      assertThat(client.read().text()).contains("\"list\"");
      assertThat(client.read().text()).isEqualTo("data: 2\n\n" + Script.DONE);
      assertError(client.read(), 404);
      assertThat(client.read("HEAD").status()).isEqualTo(200);
      assertThat(client.read().text()).isEqualTo("{\"n\":3}");
      assertOpen(client);
    }
  }

  @Test
  void aHundredPipelinedRequestsAreAllAnswered() {
    try (RawClient client = SCENE.client()) {
      client.send((list().wire() + chat("small").wire()).repeat(50));
      for (int i = 0; i < 100; i++) {
        assertThat(client.read().status()).isEqualTo(200);
      }
      assertOpen(client);
    }
  }

  @Test
  void anEmptyLineBeforeARequestIsIgnored() {
    try (RawClient client = SCENE.client()) {
      client.send("\r\n" + chat("small").wire() + "\r\n" + list().wire());
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(client.read().text()).contains("\"list\"");
      assertOpen(client);
    }
  }

  @Test
  void aRequestSplitAtAnyByteIsTheSameRequest() {
    Request request = Request.post(CHAT, JSON).key(PRO);
    assertSplitAnywhere(request);
  }

  @Test
  void aChunkedRequestSplitAtAnyByteIsTheSameRequest() {
    Request chunked = Request.post(CHAT, JSON).key(PRO).chunked(17);
    String chunks = chunked.body().replaceFirst("11\r\n", "11;a=\"b\"\r\n");
    assertSplitAnywhere(
        chunked.rawBody(chunks.replaceFirst("0\r\n\r\n$", "000\r\nX-Trailer: 1\r\n\r\n")));
  }

  private static void assertSplitAnywhere(Request request) {
    String wire = request.wire();
    try (RawClient client = SCENE.client()) {
      for (int at = 1; at < wire.length(); at++) {
        client.send(wire.substring(0, at));
        client.assertSilent(Duration.ofMillis(1));
        client.send(wire.substring(at));
        assertThat(client.read().status()).as("split at %s", at).isEqualTo(200);
        assertThat(SCENE.upstream.take().body()).isEqualTo(JSON);
      }
    }
  }

  @Test
  void aRequestThatComesByteByByteIsTheSameRequest() {
    try (RawClient client = SCENE.client()) {
      client.trickle(chat("small").chunked(3).wire(), Duration.ZERO);
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(SCENE.upstream.take().body()).isEqualTo(JSON);
    }
  }

  @Test
  void trailersAreReadAndDropped() {
    Request chunked = chat("small").chunked(50);
    String trailers = "0\r\nX-Trailer: 1\r\nX-Other: 2\r\n\r\n";
    Request request =
        chunked
            .rawBody(chunked.body().replaceFirst("0\r\n\r\n$", trailers))
            .header("Trailer", "X-Trailer");
    try (RawClient client = SCENE.client()) {
      assertThat(client.exchange(request).status()).isEqualTo(200);
      Recorded recorded = SCENE.upstream.take();
      assertThat(recorded.body()).isEqualTo(JSON);
      assertThat(recorded.headers("x-trailer")).isEmpty();
      assertThat(recorded.headers("trailer")).isEmpty();
      assertOpen(client);
    }
  }

  @Test
  void trailersPastTheBoundOfAHeadAreRefused() {
    Request chunked = chat("small").chunked(50);
    String trailers = "0\r\nX-Trailer: " + "x".repeat(100_000) + "\r\n\r\n";
    try (RawClient client = SCENE.client()) {
      client.sendAsFarAsTaken(
          chunked.rawBody(chunked.body().replaceFirst("0\r\n\r\n$", trailers)).wire());
      assertThat(client.read().status()).isIn(400, 431);
      client.assertClosed();
    }
  }

  @Test
  void aSizeOfSixteenDigitsAndAShortExtensionAreRead() {
    String size = "0".repeat(14) + Integer.toHexString(JSON.length());
    Request request = chat("small").rawBody("").header("Transfer-Encoding", "chunked");
    try (RawClient client = SCENE.client()) {
      client.send(request.head() + size + ";name=value\r\n" + JSON + "\r\n0\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(SCENE.upstream.take().body()).isEqualTo(JSON);
      assertOpen(client);
    }
  }

  // Connections after errors.

  @Test
  void aConnectionStaysOpenAfterAnErrorWhoseBodyWasRead() {
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(Request.post(CHAT, "{").key(PRO)), 400);
      assertError(client.exchange(chat("none").chunked(5)), 404);
      assertOpen(client);
    }
  }

  @Test
  void aConnectionStaysOpenAfterAnErrorWhoseBodyIsSmallEnoughToBeSkipped() {
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(chat("small").key(Scene.UNKNOWN)), 401);
      assertError(client.exchange(chat("small").key(Scene.UNKNOWN).chunked(7)), 401);
      assertError(client.exchange(chat("small").without("Content-Type")), 415);
      assertError(client.exchange(Request.post("/v1/nothing", JSON).key(PRO)), 404);
      assertOpen(client);
    }
  }

  @Test
  void aSkippedBodyIsNeverReadAsARequest() {
    String smuggled = list().wire();
    Request request = chat("small").key(Scene.UNKNOWN).body(smuggled);
    try (RawClient client = SCENE.client()) {
      client.send(request.wire() + Request.get("/v1/nothing").key(PRO).wire());
      assertError(client.read(), 401);
      assertError(client.read(), 404);
      assertOpen(client);
    }
  }

  @Test
  void anErrorBeforeALargeBodyIsDeliveredThoughTheClientIsStillSending() {
    String large = "x".repeat(4 << 20);
    for (int i = 0; i < 10; i++) {
      try (RawClient client = SCENE.client()) {
        Request request = Request.post(CHAT, "").key(PRO).rawBody(large);
        client.sendAsFarAsTaken(
            request.header("Content-Length", Integer.toString(large.length())).wire());
        assertError(client.read(), 413);
        client.assertClosed();
      }
    }
  }

  @Test
  void anErrorWithinALargeChunkedBodyIsDeliveredThoughTheClientIsStillSending() {
    String large = "x".repeat(MAX_BODY_BYTES * 8);
    for (int i = 0; i < 10; i++) {
      try (RawClient client = SCENE.client()) {
        client.sendAsFarAsTaken(Request.post(CHAT, large).key(PRO).chunked(8000).wire());
        assertError(client.read(), 413);
        client.assertClosed();
      }
    }
  }

  @Test
  void whatWasSentInUtf8ComesToTheUpstreamByteForByte() {
    String json = body("small", "\"user\":\"ü€😀\\ud83d\\ude00\", ");
    assertThat(SCENE.exchange(Request.post(CHAT, json).key(PRO)).status()).isEqualTo(200);
    assertThat(SCENE.upstream.take().body()).isEqualTo(Wire.utf8(json));
  }
}
