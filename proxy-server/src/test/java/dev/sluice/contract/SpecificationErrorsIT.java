package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.EXPIRED;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.FREE_TOO;
import static dev.sluice.contract.Scene.INACTIVE;
import static dev.sluice.contract.Scene.MAX_BODY_BYTES;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.REVOKED;
import static dev.sluice.contract.Scene.UNKNOWN;
import static dev.sluice.contract.Scene.body;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every row of the specification's table of errors, and its rules. */
class SpecificationErrorsIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]",
        "{\"model\":\"small\",\"messages\":[]}",
        "{\"model\":\"small\",\"messages\":{}}",
        "{\"model\":7,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
        "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":7}]}",
        "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\","
            + "\"image_url\":{\"url\":\"https://example.com/cat.png\"}}]}]}"
      })
  void aRequestThatBreaksAShapeRuleIs400AndDoesNotReachTheUpstream(String json) {
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(Request.post(CHAT, json).key(PRO)), 400);
      Scene.assertOpen(client);
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @Test
  void a400NamesThePathInTheJsonAndTheRule() {
    String json =
        "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
            + "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"b\"},"
            + "{\"type\":\"image_url\",\"image_url\":{\"url\":\"cat.png\"}}]}]}";

    String message = assertError(SCENE.exchange(Request.post(CHAT, json).key(PRO)), 400);

    assertThat(message).contains("messages[1].content[1].image_url.url");
    assertThat(message).contains("base64 data URL");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "X-Nothing: here",
        "x-api-key: " + PRO,
        "Authorization: " + PRO,
        "Authorization: Bearer",
        "Authorization: Bearer ",
        "Authorization: Basic " + PRO,
        "Authorization: Bearer" + PRO,
        "Authorization: Bearer " + PRO + " " + PRO,
        "Authorization: Bearer " + PRO + ", Bearer " + PRO,
        "Authorization: Bearer \"" + PRO + "\"",
        "Authorization: Bearer " + UNKNOWN,
        "Authorization: Bearer " + REVOKED,
        "Authorization: Bearer " + EXPIRED,
        "Authorization: Bearer " + INACTIVE + "x",
        "Proxy-Authorization: Bearer " + PRO,
        "Cookie: key=" + PRO
      })
  void aMissingOrInvalidKeyIs401(String header) {
    for (Request request : List.of(list(), chat("small"), Request.get("/v1/nothing"))) {
      try (RawClient client = SCENE.client()) {
        assertError(client.exchange(request.without("Authorization").rawHeader(header)), 401);
        Scene.assertOpen(client);
      }
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @Test
  void twoAuthorizationHeadersAre401EvenWhenBothAreGood() {
    Request twice = list().rawHeader("authorization: Bearer " + PRO);

    assertError(SCENE.exchange(twice), 401);
  }

  @ParameterizedTest(name = "Authorization: {0}")
  @ValueSource(strings = {"bearer " + PRO, "BEARER " + PRO, "bEaReR  " + PRO})
  void theCaseOfTheSchemeDoesNotMatter(String value) {
    Request request = list().without("Authorization").header("AUTHORIZATION", value);

    assertThat(SCENE.exchange(request).status()).isEqualTo(200);
  }

  @Test
  void anAnthropicSdkMaySendAnApiKeyHeaderBesideItsAuthToken() {
    assertThat(SCENE.exchange(list().header("x-api-key", "ignored")).status()).isEqualTo(200);
  }

  @Test
  void aSubscriptionThatIsNotActiveIs403OnEveryPath() {
    for (Request request : List.of(list(), chat("small"), Request.get("/v1/nothing"))) {
      assertError(SCENE.exchange(request.key(INACTIVE)), 403);
    }
  }

  @Test
  void aListedModelThatIsNotInThePlanIs403() {
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(chat("renamed").key(FREE)), 403);
      Scene.assertOpen(client);
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @ParameterizedTest(name = "model {0}")
  @ValueSource(strings = {"none", "Small", "small ", "unknown", "llama-3.1-8b", "openai", "*"})
  void aModelThatIsNotListedIs404ThatSaysWhereTheIdsAre(String model) {
    for (String key : List.of(PRO, FREE)) {
      String message = assertError(SCENE.exchange(chat(model).key(key)), 404);
      assertThat(message).contains("GET /v1/models");
    }
  }

  @Test
  void aBodyOfExactlyTheBoundPassesAndOneByteMoreIs413ThatNamesTheBound() {
    String json = body("small", "");
    String full = json + " ".repeat(MAX_BODY_BYTES - json.length());

    assertThat(SCENE.exchange(Request.post(CHAT, full).key(PRO)).status()).isEqualTo(200);
    assertThat(SCENE.exchange(Request.post(CHAT, full).key(PRO).chunked(5000)).status())
        .isEqualTo(200);
    for (Request over :
        List.of(
            Request.post(CHAT, full + " ").key(PRO),
            Request.post(CHAT, full + " ").key(PRO).chunked(5000))) {
      try (RawClient client = SCENE.client()) {
        client.sendAsFarAsTaken(over.wire());
        assertThat(assertError(client.read(), 413)).contains(Integer.toString(MAX_BODY_BYTES));
      }
    }
  }

  @Test
  void aDeclaredBodyOverTheBoundIsAnsweredBeforeItIsSent() {
    try (RawClient client = SCENE.client()) {
      Request request = Request.post(CHAT, "").key(PRO).without("Content-Length");
      client.send(request.header("Content-Length", "1000000000000").head());

      Answer answer = client.read();

      assertThat(assertError(answer, 413)).contains(Integer.toString(MAX_BODY_BYTES));
      assertThat(answer.header("connection")).isEqualToIgnoringCase("close");
      client.assertClosed();
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "Content-Type: text/plain",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: application/jsonx",
        "Content-Type: application/json+x",
        "Content-Type: text/json",
        "Content-Type: application/*",
        "Content-Type: application/json, text/plain",
        "Content-Type:",
        "X-Nothing: here"
      })
  void aBodyThatIsNotDeclaredAsJsonIs415(String header) {
    for (String path : List.of(CHAT, MESSAGES, "/v1/embeddings")) {
      Request request = Request.post(path, body("small", "")).key(PRO);
      try (RawClient client = SCENE.client()) {
        Answer answer = client.exchange(request.without("Content-Type").rawHeader(header));
        assertThat(assertError(answer, 415)).contains("application/json");
        Scene.assertOpen(client);
      }
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @ParameterizedTest(name = "Content-Type: {0}")
  @ValueSource(
      strings = {
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "Application/Json;charset=UTF-8",
        "application/json ; charset=\"utf-8\"",
        "\tapplication/json\t",
        "application/json;"
      })
  void parametersCaseAndWhiteSpaceOfTheContentTypeDoNotMatter(String type) {
    Request request = chat("small").without("Content-Type").header("Content-Type", type);

    assertThat(SCENE.exchange(request).status()).isEqualTo(200);
  }

  @Test
  void aFullPlanIs429ThatNamesItsSlotsAndRunningStreamsGoOn() {
    CountDownLatch refused = new CountDownLatch(1);
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n"))
            .thenAwait(refused)
            .then(Script.raw(Script.chunks("data: 2\n\n", Script.DONE) + "0\r\n\r\n")));
    List<RawClient> running = new ArrayList<>();
    try {
      for (int i = 0; i < 2; i++) {
        RawClient client = SCENE.client();
        running.add(client);
        client.send(stream(CHAT, "small").key(i == 0 ? FREE : FREE_TOO));
        assertThat(client.readHead().status()).isEqualTo(200);
        SCENE.upstream.take();
      }

      try (RawClient client = SCENE.client()) {
        String message = assertError(client.exchange(stream(CHAT, "small").key(FREE)), 429);
        assertThat(message).contains("2");
        Scene.assertOpen(client);
      }
      assertThat(SCENE.upstream.waiting()).isZero();
      refused.countDown();
      for (RawClient client : running) {
        StringBuilder events = new StringBuilder();
        assertThat(client.readRest(events)).isEqualTo(Ending.WHOLE);
        assertThat(events.toString()).isEqualTo("data: 1\n\ndata: 2\n\n" + Script.DONE);
      }
    } finally {
      running.forEach(RawClient::close);
    }
  }

  @Test
  void anInvalidAnswerOfTheUpstreamIs502() {
    SCENE.upstream.answers(Script.json("{\"broken\":"));
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(chat("small")), 502);
      Scene.assertOpen(client);
    }
  }

  @Test
  void anUpstreamThatCannotBeReachedIs503WithRetryAfter() {
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(chat("refusing")), 503);
      Scene.assertOpen(client);
    }
  }

  @Test
  void whatAMessageQuotesFromTheRequestIsBoundedAndEscaped() {
    String model = "x\\\"\\u0000\\u001b\\n<script>" + "y".repeat(20_000);

    String message = assertError(SCENE.exchange(chat(model)), 404);

    assertThat(message).hasSizeLessThan(600);
  }

  @Test
  void everyAnswerHasARequestIdOfItsOwn() {
    List<String> ids = new ArrayList<>();
    try (RawClient client = SCENE.client()) {
      for (int i = 0; i < 5; i++) {
        ids.add(client.exchange(list().header("x-request-id", "mine")).header("x-request-id"));
        ids.add(client.exchange(chat("small")).header("x-request-id"));
        ids.add(client.exchange(chat("none")).header("x-request-id"));
      }
    }
    assertThat(ids).doesNotHaveDuplicates().allMatch(id -> id.startsWith("req_"));
  }
}
