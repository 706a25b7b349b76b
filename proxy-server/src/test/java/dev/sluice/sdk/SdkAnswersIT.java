package dev.sluice.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import com.anthropic.client.AnthropicClient;
import com.anthropic.core.JsonValue;
import com.anthropic.models.messages.Base64ImageSource;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageContentParam;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.StopReason;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.anthropic.models.messages.ToolUseBlockParam;
import com.anthropic.models.models.ModelInfo;
import com.openai.client.OpenAIClient;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionAssistantMessageParam;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionContentPart;
import com.openai.models.chat.completions.ChatCompletionContentPartImage;
import com.openai.models.chat.completions.ChatCompletionContentPartText;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.models.Model;
import dev.sluice.testing.Script;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SdkAnswersIT {
  @RegisterExtension static final SdkScene scene = new SdkScene();

  /** A PNG of one pixel. */
  private static final String PNG =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

  private static final String[] MODELS = {
    "small", "big", "openai/gpt-oss-120b", "scripted", "nowhere"
  };

  private static OpenAIClient openAi;
  private static AnthropicClient anthropic;

  @BeforeAll
  static void connect() {
    openAi = scene.openAi(SdkScene.PRO);
    anthropic = scene.anthropic(SdkScene.PRO);
  }

  @Test
  void bothSdksListEveryModel() {
    assertThat(openAi.models().list().data())
        .extracting(Model::id)
        .containsExactlyInAnyOrder(MODELS);
    assertThat(anthropic.models().list().autoPager())
        .extracting(ModelInfo::id)
        .containsExactlyInAnyOrder(MODELS);
  }

  @Test
  void theListDoesNotDependOnThePlan() {
    assertThat(scene.openAi(SdkScene.FREE).models().list().data())
        .extracting(Model::id)
        .containsExactlyInAnyOrder(MODELS);
  }

  @Test
  void bothSdksGetOneModelThoughItsIdHasASlash() {
    Model model = openAi.models().retrieve("openai/gpt-oss-120b");
    ModelInfo info = anthropic.models().retrieve("openai/gpt-oss-120b");

    assertThat(model.isValid()).isTrue();
    assertThat(model.id()).isEqualTo("openai/gpt-oss-120b");
    assertThat(info.id()).isEqualTo("openai/gpt-oss-120b");
    assertThat(info.displayName()).isNotEmpty();
    assertThat(info.createdAt().toEpochSecond()).isEqualTo(model.created());
    assertThat(openAi.models().retrieve("big").ownedBy()).isEqualTo("acme");
  }

  @Test
  void theOpenAiSdkGetsAnAnswer() {
    ChatCompletion answer =
        openAi.chat().completions().create(Params.chat("openai/gpt-oss-120b").build());

    assertThat(answer.isValid()).isTrue();
    assertThat(answer.model()).isEqualTo("openai/gpt-oss-120b");
    assertThat(answer.choices().get(0).message().content())
        .get()
        .asString()
        .startsWith("You said: “Hello there”.");
  }

  @Test
  void theAnthropicSdkGetsAnAnswer() {
    Message answer = anthropic.messages().create(Params.messages("small").build());

    assertThat(answer.isValid()).isTrue();
    assertThat(answer.content().get(0).asText().text()).startsWith("You said: “Hello there”.");
  }

  @Test
  void everyAnswerCarriesOurRequestId() {
    try (var raw =
        openAi.chat().completions().withRawResponse().create(Params.chat("small").build())) {
      assertThat(raw.headers().values("x-request-id"))
          .singleElement()
          .asString()
          .startsWith("req_");
    }
  }

  @Test
  void bothSdksSeeHowManyStreamSlotsAreLeft() {
    try (var raw =
            openAi
                .chat()
                .completions()
                .withRawResponse()
                .createStreaming(Params.chat("small").build());
        var stream = raw.parse()) {
      assertThat(raw.headers().values("x-ratelimit-limit-streams")).containsExactly("100");
      assertThat(raw.headers().values("x-ratelimit-remaining-streams")).containsExactly("99");
      assertThat(stream.stream()).isNotEmpty();
    }
    try (var raw =
            anthropic
                .messages()
                .withRawResponse()
                .createStreaming(Params.messages("small").build());
        var stream = raw.parse()) {
      assertThat(raw.headers().values("x-ratelimit-limit-streams")).containsExactly("100");
      assertThat(raw.headers().values("x-ratelimit-remaining-streams")).containsExactly("99");
      assertThat(stream.stream()).isNotEmpty();
    }
  }

  @Test
  void theOpenAiSdkReadsAStreamToItsEnd() {
    try (var stream =
        openAi
            .chat()
            .completions()
            .createStreaming(
                Params.chat("small")
                    .streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build())
                    .build())) {
      List<ChatCompletionChunk> chunks = stream.stream().toList();

      assertThat(chunks).allMatch(ChatCompletionChunk::isValid);
      ChatCompletionChunk last = chunks.get(chunks.size() - 1);
      long words = last.usage().orElseThrow().completionTokens();
      assertThat(chunks).hasSize((int) words + 3); // role, finish reason, usage
      assertThat(
              chunks.stream()
                  .flatMap(chunk -> chunk.choices().stream())
                  .flatMap(choice -> choice.delta().content().stream())
                  .collect(Collectors.joining()))
          .startsWith("You said: “Hello there”.")
          .endsWith("on its way.");
    }
  }

  @Test
  void theAnthropicSdkReadsAStreamToItsEnd() {
    try (var stream = anthropic.messages().createStreaming(Params.messages("small").build())) {
      List<RawMessageStreamEvent> events = stream.stream().toList();

      assertThat(events).allMatch(RawMessageStreamEvent::isValid);
      assertThat(events.get(0).isMessageStart()).isTrue();
      assertThat(events.get(events.size() - 2).asMessageDelta().delta().stopReason())
          .contains(StopReason.END_TURN);
      assertThat(events.get(events.size() - 1).isMessageStop()).isTrue();
      assertThat(
              events.stream()
                  .flatMap(event -> event.contentBlockDelta().stream())
                  .map(event -> event.delta().asText().text())
                  .collect(Collectors.joining()))
          .startsWith("You said: “Hello there”.")
          .endsWith("on its way.");
    }
  }

  @Test
  void anEventArrivesBeforeTheNextOneIsSent() {
    CountDownLatch firstWasRead = new CountDownLatch(1);
    scene.scripted.answers(
        Script.raw(Script.streamHead() + Script.chunks(chunk("first")))
            .thenAwait(firstWasRead)
            .then(Script.raw(Script.chunks(chunk("second"), "data: [DONE]\n\n") + "0\r\n\r\n")));

    try (var stream =
        openAi.chat().completions().createStreaming(Params.chat("scripted").build())) {
      Iterator<ChatCompletionChunk> chunks = stream.stream().iterator();

      assertThat(chunks.next().id()).isEqualTo("first");
      firstWasRead.countDown();
      assertThat(chunks.next().id()).isEqualTo("second");
      assertThat(chunks.hasNext()).isFalse();
    }
  }

  @Test
  void imagesPassAsBase64DataInBothDialects() {
    ChatCompletion chat =
        openAi
            .chat()
            .completions()
            .create(
                Params.chat("small")
                    .addUserMessageOfArrayOfContentParts(
                        List.of(
                            ChatCompletionContentPart.ofText(
                                ChatCompletionContentPartText.builder().text("What is it").build()),
                            ChatCompletionContentPart.ofImageUrl(
                                ChatCompletionContentPartImage.builder()
                                    .imageUrl(
                                        ChatCompletionContentPartImage.ImageUrl.builder()
                                            .url("data:image/png;base64," + PNG)
                                            .build())
                                    .build())))
                    .build());
    Message message =
        anthropic
            .messages()
            .create(
                Params.messages("small")
                    .addUserMessage(
                        MessageContentParam.ofContentBlockParams(
                            List.of(
                                ContentBlockParam.ofText("What is it"),
                                ContentBlockParam.ofImage(
                                    Base64ImageSource.builder()
                                        .mediaType(Base64ImageSource.MediaType.IMAGE_PNG)
                                        .data(PNG)
                                        .build()))))
                    .build());

    String expected = "You said: “What is it”. 1 image came with it.";
    assertThat(chat.choices().get(0).message().content()).get().asString().startsWith(expected);
    assertThat(message.content().get(0).asText().text()).startsWith(expected);
  }

  @Test
  void aHistoryOfToolCallsPassesThoughItsContentIsNullOrMissing() {
    ChatCompletionMessageFunctionToolCall call =
        ChatCompletionMessageFunctionToolCall.builder()
            .id("call_1")
            .function(
                ChatCompletionMessageFunctionToolCall.Function.builder()
                    .name("weather")
                    .arguments("{\"city\":\"Oslo\"}")
                    .build())
            .build();
    ChatCompletionAssistantMessageParam missing =
        ChatCompletionAssistantMessageParam.builder().addToolCall(call).build();
    ChatCompletionAssistantMessageParam none =
        missing.toBuilder().content(Optional.empty()).build();

    for (ChatCompletionAssistantMessageParam assistant : List.of(missing, none)) {
      ChatCompletion answer =
          openAi
              .chat()
              .completions()
              .create(
                  Params.chat("small")
                      .addMessage(assistant)
                      .addMessage(
                          ChatCompletionToolMessageParam.builder()
                              .toolCallId("call_1")
                              .content("4 degrees")
                              .build())
                      .build());
      assertThat(answer.choices()).hasSize(1);
    }
  }

  @Test
  void aHistoryOfToolUsePassesInTheMessagesDialect() {
    Message answer =
        anthropic
            .messages()
            .create(
                Params.messages("small")
                    .addAssistantMessageOfContentBlockParams(
                        List.of(
                            ContentBlockParam.ofToolUse(
                                ToolUseBlockParam.builder()
                                    .id("toolu_1")
                                    .name("weather")
                                    .input(
                                        ToolUseBlockParam.Input.builder()
                                            .putAdditionalProperty("city", JsonValue.from("Oslo"))
                                            .build())
                                    .build())))
                    .addUserMessage(
                        MessageContentParam.ofContentBlockParams(
                            List.of(
                                ContentBlockParam.ofToolResult(
                                    ToolResultBlockParam.builder()
                                        .toolUseId("toolu_1")
                                        .content("4 degrees")
                                        .build()))))
                    .build());

    assertThat(answer.content()).hasSize(1);
  }

  private static String chunk(String id) {
    return "data: {\"id\":\""
        + id
        + "\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"m\",\"choices\":[]}\n\n";
  }
}
