package dev.sluice.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.anthropic.client.AnthropicClient;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.openai.client.OpenAIClient;
import com.openai.models.chat.completions.ChatCompletionChunk;
import dev.sluice.testing.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the users of both SDKs see when an upstream breaks a stream off: every whole event that came
 * before, and then an exception; never an end that looks like a good one.
 *
 * <p>Both SDKs know the last event that Sluice adds, and throw their {@code SseException} with its
 * message and type.
 */
class SdkBrokenStreamIT {
  @RegisterExtension static final SdkScene scene = new SdkScene();

  private static final String CHUNK =
      "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"m\","
          + "\"choices\":[]}\n\n";
  private static final String EVENT =
      "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
          + "\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n";

  private static OpenAIClient openAi;
  private static AnthropicClient anthropic;

  @BeforeAll
  static void connect() {
    openAi = scene.openAi(SdkScene.PRO);
    anthropic = scene.anthropic(SdkScene.PRO);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("breaks")
  void theOpenAiSdkGivesWhatCameAndThrows(String how, Script end) {
    scene.scripted.answers(Script.raw(Script.streamHead() + Script.chunks(CHUNK, CHUNK)).then(end));
    List<ChatCompletionChunk> seen = new ArrayList<>();

    Throwable thrown =
        catchThrowable(
            () -> {
              try (var stream =
                  openAi.chat().completions().createStreaming(Params.chat("scripted").build())) {
                stream.stream().forEach(seen::add);
              }
            });

    assertThat(seen).hasSize(2);
    assertThat(thrown).isExactlyInstanceOf(com.openai.errors.SseException.class);
    com.openai.errors.SseException broken = (com.openai.errors.SseException) thrown;
    assertThat(broken.type()).contains("upstream_error");
    assertThat(broken).hasMessageStartingWith("200: ").hasMessageNotContaining("127.0.0.1");
    assertThat(broken.headers().values("x-request-id")).hasSize(1);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("breaks")
  void theAnthropicSdkGivesWhatCameAndThrows(String how, Script end) {
    scene.scripted.answers(Script.raw(Script.streamHead() + Script.chunks(EVENT, EVENT)).then(end));
    List<RawMessageStreamEvent> seen = new ArrayList<>();

    Throwable thrown =
        catchThrowable(
            () -> {
              try (var stream =
                  anthropic.messages().createStreaming(Params.messages("scripted").build())) {
                stream.stream().forEach(seen::add);
              }
            });

    assertThat(seen).hasSize(2);
    assertThat(thrown).isExactlyInstanceOf(com.anthropic.errors.SseException.class);
    com.anthropic.errors.SseException broken = (com.anthropic.errors.SseException) thrown;
    assertThat(broken.type()).get().hasToString("upstream_error");
    assertThat(broken.apiMessage()).get().asString().isNotEmpty();
    assertThat(broken.headers().values("x-request-id"))
        .singleElement()
        .satisfies(id -> assertThat(broken.body().toString()).contains("request_id=" + id));
  }

  static Stream<Arguments> breaks() {
    return Stream.of(
        Arguments.of("the connection closes between events", Script.close()),
        Arguments.of("the connection is reset", Script.reset()),
        Arguments.of(
            "the connection closes within an event",
            Script.raw(Script.chunks("data: {\"id\":")).thenClose()),
        Arguments.of(
            "the connection closes within a chunk", Script.raw("40\r\ndata: {").thenClose()),
        Arguments.of("a chunk size is no number", Script.raw("zz\r\n").thenStall()));
  }
}
