package dev.sluice.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.anthropic.client.AnthropicClient;
import com.anthropic.core.JsonObject;
import com.anthropic.core.JsonValue;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.errors.ContentTooLargeException;
import com.anthropic.errors.ServiceUnavailableException;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.errors.BadRequestException;
import com.openai.errors.InternalServerException;
import com.openai.errors.NotFoundException;
import com.openai.errors.OpenAIServiceException;
import com.openai.errors.PermissionDeniedException;
import com.openai.errors.RateLimitException;
import com.openai.errors.UnauthorizedException;
import com.openai.errors.UnexpectedStatusCodeException;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionContentPart;
import com.openai.models.chat.completions.ChatCompletionContentPartImage;
import dev.sluice.testing.Script;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import okhttp3.MediaType;
import okhttp3.Request;
import okhttp3.RequestBody;
import okio.Buffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each error of the contract as the users of both SDKs get it. */
class SdkErrorsIT {
  @RegisterExtension static final SdkScene scene = new SdkScene();

  private static OpenAIClient openAi;
  private static AnthropicClient anthropic;

  @BeforeAll
  static void connect() {
    openAi = scene.openAi(SdkScene.PRO);
    anthropic = scene.anthropic(SdkScene.PRO);
  }

  @Test
  void anEmptyMessagesArrayIs400AndItsPathIsNamed() {
    openAiThrows(
        BadRequestException.class,
        400,
        "invalid_request_error",
        "messages",
        () -> openAi.chat().completions().create(Params.chat("small").messages(List.of()).build()));
    anthropicThrows(
        com.anthropic.errors.BadRequestException.class,
        400,
        "invalid_request_error",
        "messages",
        () -> anthropic.messages().create(Params.messages("small").messages(List.of()).build()));
  }

  @Test
  void anImageByHttpUrlIs400AndItsPathIsNamed() {
    ChatCompletionContentPart image =
        ChatCompletionContentPart.ofImageUrl(
            ChatCompletionContentPartImage.builder()
                .imageUrl(
                    ChatCompletionContentPartImage.ImageUrl.builder()
                        .url("https://example.com/cat.png")
                        .build())
                .build());

    openAiThrows(
        BadRequestException.class,
        400,
        "invalid_request_error",
        "messages[1].content[0].image_url.url",
        () ->
            openAi
                .chat()
                .completions()
                .create(
                    Params.chat("small")
                        .addUserMessageOfArrayOfContentParts(List.of(image))
                        .build()));
  }

  @Test
  void aKeyThatIsUnknownOrRevokedIs401() {
    for (String key : List.of("sk-nobody-has-this", SdkScene.REVOKED)) {
      openAiThrows(
          UnauthorizedException.class,
          401,
          "authentication_error",
          "",
          () -> scene.openAi(key).models().list());
      anthropicThrows(
          com.anthropic.errors.UnauthorizedException.class,
          401,
          "authentication_error",
          "",
          () -> scene.anthropic(key).messages().create(Params.messages("small").build()));
    }
  }

  @Test
  void aSubscriptionThatIsNotActiveIs403() {
    openAiThrows(
        PermissionDeniedException.class,
        403,
        "permission_error",
        "",
        () -> scene.openAi(SdkScene.INACTIVE).models().list());
    anthropicThrows(
        com.anthropic.errors.PermissionDeniedException.class,
        403,
        "permission_error",
        "",
        () -> scene.anthropic(SdkScene.INACTIVE).models().list());
  }

  @Test
  void aModelThatIsNotInThePlanIs403() {
    openAiThrows(
        PermissionDeniedException.class,
        403,
        "permission_error",
        "",
        () -> scene.openAi(SdkScene.FREE).chat().completions().create(Params.chat("big").build()));
    anthropicThrows(
        com.anthropic.errors.PermissionDeniedException.class,
        403,
        "permission_error",
        "",
        () -> scene.anthropic(SdkScene.FREE).messages().create(Params.messages("big").build()));
  }

  @Test
  void aModelThatIsNotListedIs404AndTheListIsNamed() {
    openAiThrows(
        NotFoundException.class,
        404,
        "not_found_error",
        "GET /v1/models",
        () -> openAi.chat().completions().create(Params.chat("unheard-of").build()));
    openAiThrows(
        NotFoundException.class,
        404,
        "not_found_error",
        "GET /v1/models",
        () -> openAi.models().retrieve("unheard/of"));
    anthropicThrows(
        com.anthropic.errors.NotFoundException.class,
        404,
        "not_found_error",
        "GET /v1/models",
        () -> anthropic.messages().create(Params.messages("unheard-of").build()));
  }

  @Test
  void aBodyOverTheBoundIs413AndTheBoundIsNamed() {
    String large = "x".repeat(SdkScene.MAX_BODY_BYTES);

    openAiThrows(
        UnexpectedStatusCodeException.class, // the SDK has no class of its own for it
        413,
        "request_too_large",
        String.valueOf(SdkScene.MAX_BODY_BYTES),
        () ->
            openAi.chat().completions().create(Params.chat("small").addUserMessage(large).build()));
    anthropicThrows(
        ContentTooLargeException.class,
        413,
        "request_too_large",
        String.valueOf(SdkScene.MAX_BODY_BYTES),
        () -> anthropic.messages().create(Params.messages("small").addUserMessage(large).build()));
  }

  @Test
  void aBodyThatIsNotSentAsJsonIs415() {
    OpenAIClient client =
        OpenAIOkHttpClient.builder()
            .baseUrl(scene.base() + "/v1")
            .apiKey(SdkScene.PRO)
            .maxRetries(0)
            .addInterceptor(chain -> chain.proceed(asText(chain.request())))
            .build();

    openAiThrows(
        UnexpectedStatusCodeException.class, // neither SDK has a class of its own for it
        415,
        "unsupported_media_type",
        "application/json",
        () -> client.chat().completions().create(Params.chat("small").build()));
    client.close();
  }

  @Test
  void aStreamMoreThanThePlanHasSlotsIs429AndTheRunningOneGoesOn() {
    String first =
        "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"m\","
            + "\"choices\":[]}\n\n";
    CountDownLatch refused = new CountDownLatch(1);
    scene.scripted.answers(
        Script.raw(Script.streamHead() + Script.chunks(first))
            .thenAwait(refused)
            .then(Script.raw(Script.chunks(first, "data: [DONE]\n\n") + "0\r\n\r\n")));
    OpenAIClient free = scene.openAi(SdkScene.FREE);
    AnthropicClient alsoFree = scene.anthropic(SdkScene.FREE);

    try (var stream = free.chat().completions().createStreaming(Params.chat("scripted").build())) {
      Iterator<ChatCompletionChunk> running = stream.stream().iterator();
      assertThat(running.next().id()).isEqualTo("1");

      OpenAIServiceException thrown =
          openAiThrows(
              RateLimitException.class,
              429,
              "rate_limit_error",
              "1",
              () -> free.chat().completions().createStreaming(Params.chat("small").build()));
      assertSaysSlotsAndWhenToComeBack(thrown.headers()::values);
      AnthropicServiceException alsoThrown =
          anthropicThrows(
              com.anthropic.errors.RateLimitException.class,
              429,
              "rate_limit_error",
              "1",
              () -> alsoFree.messages().createStreaming(Params.messages("small").build()));
      assertSaysSlotsAndWhenToComeBack(alsoThrown.headers()::values);
      assertThat(free.chat().completions().create(Params.chat("small").build()).choices())
          .as("a request that does not stream takes no slot")
          .hasSize(1);

      refused.countDown();
      assertThat(running.next().id()).isEqualTo("1");
      assertThat(running.hasNext()).isFalse();
    }
  }

  private static void assertSaysSlotsAndWhenToComeBack(Function<String, List<String>> header) {
    assertThat(header.apply("retry-after"))
        .singleElement()
        .asString()
        .matches("[1-9]|[1-5][0-9]|60");
    assertThat(header.apply("x-ratelimit-limit-streams")).containsExactly("1");
    assertThat(header.apply("x-ratelimit-remaining-streams")).containsExactly("0");
  }

  @Test
  void anInvalidAnswerOfTheModelIs502() {
    scene.scripted.always(Script.json("{\"id\":"));

    openAiThrows(
        InternalServerException.class,
        502,
        "upstream_error",
        "",
        () -> openAi.chat().completions().create(Params.chat("scripted").build()));
    anthropicThrows(
        com.anthropic.errors.InternalServerException.class,
        502,
        "upstream_error",
        "",
        () -> anthropic.messages().create(Params.messages("scripted").build()));
  }

  @Test
  void aStreamThatFailsBeforeItsFirstEventIs502() {
    scene.scripted.always(Script.raw(Script.streamHead()).thenClose());

    openAiThrows(
        InternalServerException.class,
        502,
        "upstream_error",
        "",
        () -> openAi.chat().completions().createStreaming(Params.chat("scripted").build()));
    anthropicThrows(
        com.anthropic.errors.InternalServerException.class,
        502,
        "upstream_error",
        "",
        () -> anthropic.messages().createStreaming(Params.messages("scripted").build()));
  }

  @Test
  void aModelThatIsAwayIs503WithTheTimeToWait() {
    scene.scripted.always(Script.json(503, "{}", "Retry-After: 7"));

    OpenAIServiceException thrown =
        openAiThrows(
            InternalServerException.class,
            503,
            "overloaded_error",
            "",
            () -> openAi.chat().completions().create(Params.chat("scripted").build()));
    assertThat(thrown.headers().values("retry-after")).containsExactly("7");
    AnthropicServiceException alsoThrown =
        anthropicThrows(
            ServiceUnavailableException.class,
            503,
            "overloaded_error",
            "",
            () -> anthropic.messages().create(Params.messages("nowhere").build()));
    assertThat(alsoThrown.headers().values("retry-after"))
        .singleElement()
        .asString()
        .containsOnlyDigits();
  }

  private static OpenAIServiceException openAiThrows(
      Class<? extends OpenAIServiceException> as,
      int status,
      String type,
      String inMessage,
      ThrowingCallable call) {
    OpenAIServiceException thrown = catchThrowableOfType(OpenAIServiceException.class, call);
    assertThat(thrown).isExactlyInstanceOf(as).hasMessageStartingWith(status + ": ");
    assertThat(thrown).hasMessageContaining(inMessage);
    assertThat(thrown.statusCode()).isEqualTo(status);
    assertThat(thrown.type()).contains(type);
    assertThat(thrown.headers().values("x-request-id"))
        .singleElement()
        .asString()
        .startsWith("req_");
    return thrown;
  }

  private static AnthropicServiceException anthropicThrows(
      Class<? extends AnthropicServiceException> as,
      int status,
      String type,
      String inMessage,
      ThrowingCallable call) {
    AnthropicServiceException thrown = catchThrowableOfType(AnthropicServiceException.class, call);
    assertThat(thrown).isExactlyInstanceOf(as);
    assertThat(thrown.statusCode()).isEqualTo(status);
    assertThat(thrown.type()).get().hasToString(type);
    assertThat(thrown.apiMessage()).get().asString().isNotEmpty().contains(inMessage);
    assertThat(thrown.headers().values("x-request-id"))
        .singleElement()
        .isEqualTo(requestId(thrown.body()))
        .asString()
        .startsWith("req_");
    return thrown;
  }

  private static String requestId(JsonValue body) {
    JsonValue id = ((JsonObject) body).values().get("request_id");
    return String.valueOf(Objects.requireNonNull(id).convert(String.class));
  }

  private static Request asText(Request request) throws IOException {
    RequestBody body = request.body();
    if (body == null) {
      return request;
    }
    Buffer bytes = new Buffer();
    body.writeTo(bytes);
    return request
        .newBuilder()
        .removeHeader("Content-Type")
        .post(RequestBody.create(bytes.readByteString(), MediaType.get("text/plain")))
        .build();
  }
}
