package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What operators are shown of a real process: what is wrong, what runs, what was read. */
class OperatorPageIT {
  @RegisterExtension
  static final Scene SCENE = new Scene().plan("narrow: {streams: 1, models: [small]}");

  private static Map<String, Object> shown(String path) {
    Answer answer = SCENE.sluice().admin(path);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.header("content-type")).isEqualTo("application/json");
    return answer.json();
  }

  private static List<String> problems() {
    return Json.objects(shown("/problems"), "problems").stream()
        .map(problem -> problem.get("severity") + ": " + problem.get("text"))
        .toList();
  }

  private static void awaitProblem(String text) {
    Eventually.that(
        text + " is told", () -> problems().stream().anyMatch(told -> told.contains(text)));
  }

  private static void awaitNoProblem(String text) {
    Eventually.that(
        text + " is told no longer",
        () -> problems().stream().noneMatch(told -> told.contains(text)));
  }

  private static void operate(String target) {
    assertThat(SCENE.sluice().admin(Request.of("POST", target)).status()).isEqualTo(200);
  }

  @Test
  void exchangesUnderWayAreShownWhileTheyRun() {
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenStall());
    List<RawClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 2; i++) {
        RawClient client = SCENE.client();
        clients.add(client);
        client.send(stream(CHAT, "small").key(FREE));
        client.readHead();
        client.readUntil("\n\n");
      }
      RawClient sending = SCENE.client();
      clients.add(sending);
      sending.send(
          "POST "
              + CHAT
              + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
              + Scene.PRO
              + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"mod");
      Eventually.that("three are under way", () -> exchanges().size() == 3);

      assertThat(shown("/exchanges")).containsEntry("total", 3);
      assertThat(exchanges().subList(0, 2))
          .allSatisfy(
              exchange ->
                  assertThat(exchange)
                      .containsEntry("operation", "chat_completions")
                      .containsEntry("model", "small")
                      .containsEntry("plan", "free")
                      .containsEntry("key", "free")
                      .containsEntry("phase", "answering")
                      .containsEntry("stream", true)
                      .containsEntry("endpoint", "127.0.0.1:" + SCENE.upstream.port())
                      .containsEntry("attempts", 1)
                      .containsEntry("events", 1));
      Eventually.that(
          "the third sends its body",
          () -> Integer.valueOf(5).equals(exchanges().get(2).get("bytes_in")));
      assertThat(exchanges().get(2))
          .containsEntry("model", null)
          .containsEntry("plan", "pro")
          .containsEntry("phase", "open")
          .containsEntry("stream", false)
          .containsEntry("endpoint", null);
      assertThat(String.valueOf(exchanges().get(0).get("request_id"))).startsWith("req_");
      assertThat(SCENE.sluice().admin("/exchanges").text()).doesNotContain(FREE, Scene.PRO, "sk-");
      awaitProblem("caution: Plan free: all 2 stream slots are in use.");
      Map<String, Object> overview = shown("/overview");
      assertThat(overview).containsEntry("exchanges", 3).containsEntry("streams", 2);
    } finally {
      clients.forEach(RawClient::close);
    }
    Eventually.that("none is under way", () -> exchanges().isEmpty());
    awaitNoProblem("Plan free");
  }

  private static List<Map<String, Object>> exchanges() {
    return Json.objects(shown("/exchanges"), "exchanges");
  }

  @Test
  void whatIsWrongWithEndpointsAndMaintenanceIsTold() {
    String id = "127.0.0.1:" + SCENE.upstream.port();
    operate("/endpoints/" + id + "/eject?model=small");
    operate("/maintenance?for=1h&model=openai%2Fgpt-oss-120b");
    try {
      awaitProblem("alarm: Model small: its only endpoint does not answer.");
      awaitProblem(
          "caution: Model small: endpoint " + id + " is not used until an operator restores it.");
      awaitProblem("caution: Model openai/gpt-oss-120b is in maintenance for 3600 s more.");
      assertThat(problems().get(0)).startsWith("alarm: ");
    } finally {
      operate("/endpoints/" + id + "/restore?model=small");
      operate("/maintenance?for=0s&model=openai%2Fgpt-oss-120b");
    }
    awaitNoProblem("Model small");
    awaitNoProblem("maintenance");
  }

  @Test
  void whatFailedLatelyIsToldByItsReason() {
    SCENE.upstream.answers(Script.json(500, "{}"));
    assertError(SCENE.exchange(chat("impatient")), 502);

    awaitProblem("failed in the last 5 minutes: ");
    awaitProblem("upstream_status ");
  }

  @Test
  void aVersionThatIsRefusedIsAnAlarmUntilTheNextThatIsNot() throws IOException {
    String before = Files.readString(SCENE.sluice().configFile());
    String keys = Files.readString(SCENE.sluice().keysFile());
    try {
      Files.writeString(SCENE.sluice().configFile(), before + "nonsense: 1\n");
      Files.writeString(SCENE.sluice().keysFile(), "nonsense: 1\n");
      awaitProblem("alarm: The new version of the configuration was refused: ");
      awaitProblem("alarm: The new version of the keys was refused: ");
    } finally {
      Files.writeString(SCENE.sluice().configFile(), before);
      Files.writeString(SCENE.sluice().keysFile(), keys);
    }
    awaitNoProblem("refused: ");
    List<Map<String, Object>> reloads = Json.objects(shown("/reloads"), "reloads");
    assertThat(reloads.get(reloads.size() - 1))
        .containsEntry("result", "ok")
        .containsEntry("told", "read at the start")
        .containsEntry("file", SCENE.sluice().configFile().toString());
    assertThat(reloads)
        .anySatisfy(
            reload -> {
              assertThat(reload).containsEntry("result", "refused");
              assertThat(String.valueOf(reload.get("faults"))).contains("nonsense: unknown name");
            });
  }

  @Test
  void aDrainIsAnAlarm() {
    try (Scene scene = new Scene().start()) {
      assertThat(scene.sluice().admin(Request.of("POST", "/drain?deadline=1h")).status())
          .isEqualTo(200);
      assertThat(scene.sluice().admin("/problems").text())
          .contains(
              "{\"severity\":\"alarm\",\"text\":\"Sluice drains: new requests are refused. 0"
                  + " exchanges left, ended in ");
    }
  }

  @Test
  void thePageIsServedToOperatorsAndToNobodyElse() {
    assertThat(SCENE.sluice().admin("/").header("content-type"))
        .isEqualTo("text/html; charset=utf-8");
    assertError(SCENE.exchange(Request.get("/").key(FREE)), 404);
    assertError(SCENE.exchange(Request.get("/exchanges").key(FREE)), 404);
  }
}
