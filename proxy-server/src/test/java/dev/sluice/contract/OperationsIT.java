package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.body;
import static dev.sluice.contract.Scene.list;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Json;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.ScriptedUpstream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operations, and what each of them answers. */
class OperationsIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  @Test
  void theListHoldsEveryConfiguredModelInTheFormOfBothSdkFamilies() {
    Answer answer = SCENE.exchange(list());

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.header("content-type")).isEqualTo("application/json");
    assertThat(answer.header("x-request-id")).startsWith("req_");
    Map<String, Object> models = answer.json();
    assertThat(models.keySet())
        .containsExactlyInAnyOrder("object", "data", "has_more", "first_id", "last_id");
    assertThat(models).containsEntry("object", "list").containsEntry("has_more", false);
    List<Map<String, Object>> data = Json.objects(models, "data");
    assertThat(data)
        .extracting(model -> model.get("id"))
        .containsExactlyInAnyOrder(
            "small",
            "renamed",
            "openai/gpt-oss-120b",
            "impatient",
            "restless",
            "refusing",
            "silent",
            "silent-long");
    assertThat(models.get("first_id")).isEqualTo(data.get(0).get("id"));
    assertThat(models.get("last_id")).isEqualTo(data.get(data.size() - 1).get("id"));
    data.forEach(OperationsIT::assertModel);
  }

  private static void assertModel(Map<String, Object> model) {
    assertThat(model.keySet())
        .containsExactlyInAnyOrder(
            "id", "object", "type", "created", "created_at", "owned_by", "display_name");
    assertThat(model).containsEntry("object", "model").containsEntry("type", "model");
    assertThat(model.get("display_name")).isInstanceOf(String.class);
    assertThat(model.get("owned_by")).isInstanceOf(String.class);
    long created = ((Number) model.getOrDefault("created", -1)).longValue();
    assertThat(Instant.parse((String) model.get("created_at")).getEpochSecond()).isEqualTo(created);
  }

  @Test
  void theListDoesNotDependOnThePlan() {
    assertThat(SCENE.exchange(Request.get("/v1/models").key(FREE)).text())
        .isEqualTo(SCENE.exchange(Request.get("/v1/models").key(PRO)).text());
  }

  @Test
  void aQueryStringDoesNotMatterToTheList() {
    assertThat(SCENE.exchange(Request.get("/v1/models?limit=20&after_id=x").key(PRO)).status())
        .isEqualTo(200);
  }

  @Test
  void theOwnerOfAModelIsTheConfiguredOne() {
    Answer answer = SCENE.exchange(Request.get("/v1/models/renamed").key(PRO));

    assertModel(answer.json());
    assertThat(answer.json()).containsEntry("id", "renamed").containsEntry("owned_by", "acme");
  }

  @ParameterizedTest(name = "GET /v1/models/{0}")
  @ValueSource(
      strings = {
        "openai/gpt-oss-120b",
        "openai%2Fgpt-oss-120b",
        "openai%2fgpt-oss-120b",
        "%6fpenai%2Fgpt-oss-120b?x=y"
      })
  void anIdIsPercentDecodedOnce(String id) {
    Answer answer = SCENE.exchange(Request.get("/v1/models/" + id).key(FREE));

    assertThat(answer.status()).isEqualTo(200);
    assertModel(answer.json());
    assertThat(answer.json()).containsEntry("id", "openai/gpt-oss-120b");
  }

  @ParameterizedTest(name = "GET /v1/models/{0}")
  @ValueSource(
      strings = {
        "none",
        "openai%252Fgpt-oss-120b",
        "openai//gpt-oss-120b",
        "openai/./gpt-oss-120b",
        "SMALL",
        "small/",
        "small%20",
        "%73mall%00"
      })
  void anIdThatIsNotListedIs404(String id) {
    String message = assertError(SCENE.exchange(Request.get("/v1/models/" + id).key(PRO)), 404);

    assertThat(message).contains("GET /v1/models");
  }

  @Test
  void headGivesTheHeadOfGetAndNoBody() {
    try (RawClient client = SCENE.client()) {
      Answer get = client.exchange(list());
      Answer head = client.exchange(Request.of("HEAD", "/v1/models").key(PRO));
      Answer unknown = client.exchange(Request.of("HEAD", "/v1/models/none").key(PRO));

      assertThat(head.status()).isEqualTo(200);
      assertThat(head.header("content-type")).isEqualTo("application/json");
      assertThat(head.header("content-length")).isEqualTo(get.header("content-length"));
      assertThat(unknown.status()).isEqualTo(404);
      Scene.assertOpen(client);
    }
  }

  @ParameterizedTest(name = "POST {0}")
  @ValueSource(strings = {CHAT, MESSAGES, "/v1/embeddings"})
  void aBodyReachesTheSamePathOfTheUpstreamAndTheAnswerTheCaller(String path) {
    Answer answer = SCENE.exchange(Request.post(path, body("small", "")).key(PRO));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.text()).isEqualTo(ScriptedUpstream.PLAIN_JSON);
    assertThat(SCENE.upstream.take().line()).isEqualTo("POST " + path + " HTTP/1.1");
  }

  @ParameterizedTest(name = "POST {0}")
  @ValueSource(strings = {CHAT, MESSAGES})
  void theTwoBuiltInOperationsNeedMessages(String path) {
    String message =
        assertError(SCENE.exchange(Request.post(path, "{\"model\":\"small\"}").key(PRO)), 400);

    assertThat(message).contains("messages");
  }

  @Test
  void anOperationOfTheConfigurationCanDoWithoutMessages() {
    String json = "{\"model\":\"small\",\"input\":\"text\"}";
    assertThat(SCENE.exchange(Request.post("/v1/embeddings", json).key(PRO)).status())
        .isEqualTo(200);
    assertThat(SCENE.upstream.take().body()).isEqualTo(json);
  }

  @Test
  void anOperationOfTheConfigurationStillNeedsAModel() {
    assertError(SCENE.exchange(Request.post("/v1/embeddings", "{\"input\":1}").key(PRO)), 400);
  }
}
