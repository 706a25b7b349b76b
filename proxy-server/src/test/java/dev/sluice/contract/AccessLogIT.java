package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Script;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One JSON line an exchange on standard output. */
class AccessLogIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static List<String> linesOf(String requestId) {
    return SCENE.sluice().stdout().stream().filter(line -> line.contains(requestId)).toList();
  }

  private static Map<String, Object> lineOf(String requestId) {
    Eventually.that("a line of " + requestId, () -> !linesOf(requestId).isEmpty());
    assertThat(linesOf(requestId)).hasSize(1);
    Map<String, Object> line = Json.object(linesOf(requestId).get(0));
    assertThat(Instant.parse((String) line.get("time"))).isBefore(Instant.now().plusSeconds(1));
    return line;
  }

  @Test
  void anAnswerHasALine() {
    Answer answer = SCENE.exchange(chat("small").key(FREE));

    Map<String, Object> line = lineOf(answer.header("x-request-id"));

    assertThat(line)
        .containsEntry("operation", "chat_completions")
        .containsEntry("model", "small")
        .containsEntry("plan", "free")
        .containsEntry("key", "free")
        .containsEntry("status", 200)
        .containsEntry("bytes_in", chat("small").body().length())
        .containsEntry("upstream", "http://127.0.0.1:" + SCENE.upstream.port())
        .containsEntry("end", "done");
    assertThat(line.get("reason")).isNull();
  }

  @Test
  void aStreamHasItsEventsAndTimes() {
    SCENE.upstream.answers(Script.stream("data: 1\n\n", ": no event\n\n", Script.MESSAGE_STOP));
    Answer answer = SCENE.exchange(stream(MESSAGES, "small"));

    Map<String, Object> line = lineOf(answer.header("x-request-id"));

    assertThat(line).containsEntry("operation", "messages").containsEntry("events", 2);
    double first = ((Number) Objects.requireNonNull(line.get("first_byte_ms"))).doubleValue();
    double whole = ((Number) Objects.requireNonNull(line.get("duration_ms"))).doubleValue();
    assertThat(first).isPositive().isLessThanOrEqualTo(whole);
  }

  @Test
  void aRefusalHasItsReason() {
    assertThat(lineOf(SCENE.exchange(chat("none")).header("x-request-id")))
        .containsEntry("status", 404)
        .containsEntry("reason", "model_unknown");
    assertThat(lineOf(SCENE.exchange(list().rawHeader("X-A : 1")).header("x-request-id")))
        .containsEntry("status", 400)
        .containsEntry("reason", "http_malformed");
  }

  @Test
  void aBrokenStreamSaysWhoBrokeIt() {
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenClose());
    Answer broken = SCENE.exchange(stream(CHAT, "small"));
    assertThat(lineOf(broken.header("x-request-id")))
        .containsEntry("status", 200)
        .containsEntry("end", "upstream");

    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenStall());
    try (RawClient client = SCENE.client()) {
      client.send(stream(CHAT, "small"));
      Answer left = client.readHead();
      client.reset();
      assertThat(lineOf(left.header("x-request-id")))
          .containsEntry("status", 200)
          .containsEntry("end", "client");
    }
  }

  @Test
  void aClientThatLeavesBeforeItsAnswerHasALineToo() {
    SCENE.upstream.always(Script.stall());
    try (RawClient client = SCENE.client()) {
      client.send(chat("small"));
      String requestId = SCENE.upstream.take().header("x-request-id");
      client.reset();
      assertThat(lineOf(requestId)).containsEntry("end", "client");
    }
  }

  @Test
  void noKeyIsEverLogged() {
    SCENE.exchange(chat("small"));
    SCENE.exchange(chat("small").key(Scene.UNKNOWN));
    SCENE.exchange(list().line("GET /v1/models?key=" + Scene.PRO + " HTTP/1.1"));
    lineOf(SCENE.exchange(list()).header("x-request-id"));

    assertThat(SCENE.sluice().stdout()).noneMatch(line -> line.contains("sk-test"));
    assertThat(SCENE.sluice().stderr()).noneMatch(line -> line.contains("sk-test"));
    assertThat(SCENE.sluice().stdout()).noneMatch(line -> line.contains(Scene.UPSTREAM_KEY));
  }
}
