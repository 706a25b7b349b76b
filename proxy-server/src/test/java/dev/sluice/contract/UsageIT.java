package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.Metrics;
import dev.sluice.testing.Script;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tokens, from the upstream's answer to the access log and the meters. */
class UsageIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String METER = "gen_ai_client_token_usage_sum";
  private static final String CHAT_USAGE =
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":3}}\n\n";
  private static final String MESSAGE_START =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{"
          + "\"input_tokens\":40,\"output_tokens\":1}}}\n\n";
  private static final String MESSAGE_DELTA =
      "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":3}}\n\n";

  private static Map<String, Object> lineOf(Answer answer) {
    String id = answer.header("x-request-id");
    Eventually.that(
        "a line of " + id,
        () -> SCENE.sluice().stdout().stream().anyMatch(line -> line.contains(id)));
    List<String> lines =
        SCENE.sluice().stdout().stream().filter(line -> line.contains(id)).toList();
    return Json.object(lines.get(0));
  }

  private static void assertTokens(Answer answer, Object input, Object output) {
    assertThat(lineOf(answer))
        .containsEntry("input_tokens", input)
        .containsEntry("output_tokens", output);
  }

  @Test
  void anAnswerTellsItsTokens() {
    String json = "{\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":3},\"choices\":[]}";
    Metrics before = SCENE.metricsAtRest();
    SCENE.upstream.answers(Script.json(json));
    Answer answer = SCENE.exchange(chat("small").key(FREE));

    assertThat(answer.text()).isEqualTo(json);
    assertTokens(answer, 40, 3);
    String[] labels = {"gen_ai_request_model=\"small\"", "plan=\"free\""};
    SCENE
        .sluice()
        .awaitMetrics(
            "the tokens of the answer",
            after -> after.sum(METER, labels) == before.sum(METER, labels) + 43);
    Metrics after = SCENE.sluice().metrics();
    assertThat(after.sum(METER, "gen_ai_token_type=\"input\"", labels[0], labels[1]))
        .isEqualTo(before.sum(METER, "gen_ai_token_type=\"input\"", labels[0], labels[1]) + 40);
  }

  @Test
  void aStreamTellsItsTokensInBothDialects() {
    SCENE.upstream.answers(Script.stream("data: {\"usage\":null}\n\n", CHAT_USAGE, Script.DONE));
    assertTokens(SCENE.exchange(stream(CHAT, "small")), 40, 3);

    SCENE.upstream.answers(
        Script.stream(MESSAGE_START, "data: {}\n\n", MESSAGE_DELTA, Script.MESSAGE_STOP));
    assertTokens(SCENE.exchange(stream(MESSAGES, "small")), 40, 3);
  }

  @Test
  void aStreamThatComesByteByByteTellsThemToo() {
    String chat = Script.streamHead() + Script.chunks(CHAT_USAGE, Script.DONE) + "0\r\n\r\n";
    SCENE.upstream.answers(Script.trickle(chat));
    assertTokens(SCENE.exchange(stream(CHAT, "small")), 40, 3);

    String messages =
        Script.streamHead()
            + Script.chunks(MESSAGE_START, MESSAGE_DELTA, Script.MESSAGE_STOP)
            + "0\r\n\r\n";
    SCENE.upstream.answers(Script.trickle(messages));
    assertTokens(SCENE.exchange(stream(MESSAGES, "small")), 40, 3);
  }

  @Test
  void aStreamThatBreaksOffTellsWhatWasSeen() {
    SCENE.upstream.answers(
        Script.raw(Script.streamHead() + Script.chunks(MESSAGE_START, "data: {}\n\n")).thenClose());
    Answer broken = SCENE.exchange(stream(MESSAGES, "small"));

    assertTokens(broken, 40, 1);
    assertThat(lineOf(broken)).containsEntry("events", 2).containsEntry("end", "upstream");
  }

  @Test
  void whoTellsNothingOrNonsenseIsRelayedAndHasNone() {
    String nonsense =
        "data: {\"usage\":{\"prompt_tokens\":-40,\"completion_tokens\":1e99,\"usage\":[\n\n";
    SCENE.upstream.answers(Script.stream(nonsense, Script.DONE));
    Answer answer = SCENE.exchange(stream(CHAT, "small"));

    assertThat(answer.text()).isEqualTo(nonsense + Script.DONE);
    assertThat(lineOf(answer)).containsKeys("input_tokens", "output_tokens");
    assertThat(lineOf(answer).get("input_tokens")).isNull();
    assertThat(lineOf(answer).get("output_tokens")).isNull();
  }
}
