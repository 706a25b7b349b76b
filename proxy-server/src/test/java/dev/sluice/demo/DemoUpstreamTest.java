package dev.sluice.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.anthropic.client.AnthropicClient;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.StopReason;
import com.openai.client.OpenAIClient;
import com.openai.core.http.StreamResponse;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import dev.sluice.sdk.SdkClients;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DemoUpstreamTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String MESSAGES = "/v1/messages";
  private static final String HELLO =
      "\"messages\":[{\"role\":\"user\",\"content\":\"Hello there\"}]";

  private static EventLoopGroup group;
  private static DemoUpstream quick;
  private static DemoUpstream slow;
  private static OpenAIClient openAi;
  private static AnthropicClient anthropic;
  private static HttpClient http;

  @BeforeAll
  static void start() {
    group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    quick = DemoUpstream.start(group, NioServerSocketChannel.class, Duration.ofMillis(1));
    slow = DemoUpstream.start(group, NioServerSocketChannel.class, Duration.ofHours(1));
    openAi = SdkClients.openAi(uri(quick), "any");
    anthropic = SdkClients.anthropic(uri(quick), "any");
    http = HttpClient.newHttpClient();
  }

  @AfterAll
  static void stop() throws InterruptedException {
    openAi.close();
    anthropic.close();
    quick.close();
    slow.close();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    assertThat(group.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void theOpenAiSdkReadsAnAnswerAndItsUsage() {
    ChatCompletion answer = openAi.chat().completions().create(chat().build());

    assertThat(answer.isValid()).isTrue();
    assertThat(answer.model()).isEqualTo("small");
    ChatCompletion.Choice choice = answer.choices().get(0);
    assertThat(choice.message().content()).get().asString().startsWith("You said: “Hello there”.");
    assertThat(choice.finishReason()).isEqualTo(ChatCompletion.Choice.FinishReason.STOP);
    assertThat(answer.usage()).get().extracting(u -> u.promptTokens()).isEqualTo(2L);
  }

  @Test
  void theOpenAiSdkReadsAStreamWhoseWordsAreTheAnswer() {
    ChatCompletion whole = openAi.chat().completions().create(chat().build());
    List<ChatCompletionChunk> chunks = stream(chat().build());

    assertThat(chunks).allMatch(ChatCompletionChunk::isValid);
    assertThat(chunks.get(0).choices().get(0).delta().role())
        .contains(ChatCompletionChunk.Choice.Delta.Role.ASSISTANT);
    assertThat(text(chunks)).isEqualTo(whole.choices().get(0).message().content().orElseThrow());
    assertThat(chunks.get(chunks.size() - 1).choices().get(0).finishReason())
        .contains(ChatCompletionChunk.Choice.FinishReason.STOP);
    assertThat(chunks).allMatch(chunk -> chunk.usage().isEmpty());
  }

  @Test
  void theUsageOfAChatStreamComesLastAndOnlyWhenAskedFor() {
    List<ChatCompletionChunk> chunks =
        stream(
            chat()
                .maxCompletionTokens(3)
                .streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build())
                .build());

    ChatCompletionChunk last = chunks.get(chunks.size() - 1);
    assertThat(last.choices()).isEmpty();
    assertThat(last.usage()).get().extracting(u -> u.completionTokens()).isEqualTo(3L);
    assertThat(chunks.get(chunks.size() - 2).choices().get(0).finishReason())
        .contains(ChatCompletionChunk.Choice.FinishReason.LENGTH);
    assertThat(text(chunks)).isEqualTo("You said: “Hello");
  }

  @Test
  void theAnthropicSdkReadsAnAnswerAndItsUsage() {
    Message answer = anthropic.messages().create(messages().maxTokens(4).build());

    assertThat(answer.isValid()).isTrue();
    assertThat(answer.content().get(0).asText().text()).isEqualTo("You said: “Hello there”.");
    assertThat(answer.stopReason()).contains(StopReason.MAX_TOKENS);
    assertThat(answer.usage().inputTokens()).isEqualTo(2);
    assertThat(answer.usage().outputTokens()).isEqualTo(4);
  }

  @Test
  void theAnthropicSdkReadsAStreamFromItsStartToItsStop() {
    try (var stream = anthropic.messages().createStreaming(messages().maxTokens(1000).build())) {
      List<RawMessageStreamEvent> events = stream.stream().toList();

      assertThat(events).allMatch(RawMessageStreamEvent::isValid);
      assertThat(events.get(0).isMessageStart()).isTrue();
      assertThat(events.get(1).isContentBlockStart()).isTrue();
      int size = events.size();
      assertThat(events.get(size - 3).isContentBlockStop()).isTrue();
      assertThat(events.get(size - 2).asMessageDelta().delta().stopReason())
          .contains(StopReason.END_TURN);
      assertThat(events.get(size - 1).isMessageStop()).isTrue();
      String text =
          events.stream()
              .flatMap(event -> event.contentBlockDelta().stream())
              .map(event -> event.delta().asText().text())
              .collect(Collectors.joining());
      assertThat(text).startsWith("You said: “Hello there”. No image came with it.");
    }
  }

  @Test
  void theBytesOfAChatStreamAreThoseOfThePublicApi() throws Exception {
    HttpResponse<String> answer =
        post(quick, CHAT, "{\"model\":\"m\",\"stream\":true,\"max_tokens\":1," + HELLO + "}");

    assertThat(answer.headers().firstValue("content-type"))
        .contains("text/event-stream; charset=utf-8");
    assertThat(
            answer
                .body()
                .replaceAll("chatcmpl-[0-9a-f]{16}", "ID")
                .replaceAll("\"created\":\\d+", "\"created\":0"))
        .isEqualTo(
            """
            data: {"id":"ID","object":"chat.completion.chunk","created":0,"model":"m",\
            "choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,\
            "finish_reason":null}]}

            data: {"id":"ID","object":"chat.completion.chunk","created":0,"model":"m",\
            "choices":[{"index":0,"delta":{"content":"You"},"logprobs":null,\
            "finish_reason":null}]}

            data: {"id":"ID","object":"chat.completion.chunk","created":0,"model":"m",\
            "choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]}

            data: [DONE]

            """);
  }

  @Test
  void theBytesOfAMessagesStreamAreThoseOfThePublicApi() throws Exception {
    HttpResponse<String> answer =
        post(quick, MESSAGES, "{\"model\":\"m\",\"stream\":true,\"max_tokens\":1," + HELLO + "}");

    assertThat(answer.body().replaceAll("msg_[0-9a-f]{16}", "ID"))
        .isEqualTo(
            """
            event: message_start
            data: {"type":"message_start","message":{"id":"ID","type":"message",\
            "role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,\
            "usage":{"input_tokens":2,"output_tokens":1}}}

            event: content_block_start
            data: {"type":"content_block_start","index":0,\
            "content_block":{"type":"text","text":""}}

            event: ping
            data: {"type":"ping"}

            event: content_block_delta
            data: {"type":"content_block_delta","index":0,\
            "delta":{"type":"text_delta","text":"You"}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":0}

            event: message_delta
            data: {"type":"message_delta","delta":{"stop_reason":"max_tokens",\
            "stop_sequence":null},"usage":{"output_tokens":1}}

            event: message_stop
            data: {"type":"message_stop"}

            """);
  }

  @Test
  void imagesOfBothDialectsAreCounted() throws Exception {
    String two =
        """
        {"model":"m","messages":[{"role":"user","content":[
          {"type":"text","text":"Look"},
          {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
          {"image_url":{"url":"data:image/png;base64,AAAA"},"type":"image_url"}]}]}""";
    String one =
        """
        {"model":"m","messages":[{"role":"user","content":[
          {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}""";

    assertThat(post(quick, CHAT, two).body()).contains("“Look”. 2 images came");
    assertThat(post(quick, MESSAGES, one).body()).contains("nothing in words. 1 image came");
  }

  @Test
  void theLastUserMessageIsQuotedThoughOthersFollow() throws Exception {
    String body =
        """
        {"model":"m","messages":[
          {"role":"user","content":"first"},
          {"role":"user","content":[{"type":"text","text":"second"},{"type":"text","text":"half"}]},
          {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
            "function":{"name":"f","arguments":"{}"}}]},
          {"role":"tool","tool_call_id":"1","content":"4"}]}""";

    assertThat(post(quick, CHAT, body).body()).contains("“second half”");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nothing",
        "[]",
        "{",
        "{} {}",
        "{\"model\":\"m\"}",
        "{\"messages\":[{\"role\":\"user\"}]}",
        "{\"model\":7," + HELLO + "}",
        "{\"model\":\"\"," + HELLO + "}",
        "{\"model\":\"m\",\"messages\":[]}",
        "{\"model\":\"m\",\"messages\":{}}",
        "{\"model\":\"m\",\"messages\":[7]}",
        "{\"model\":\"m\",\"messages\":[{\"content\":\"x\"}]}",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":7}]}",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[7]}]}",
        "{\"model\":\"m\",\"stream\":1," + HELLO + "}",
        "{\"model\":\"m\",\"max_tokens\":0," + HELLO + "}",
        "{\"model\":\"m\",\"max_tokens\":1.5," + HELLO + "}",
        "{\"model\":\"m\",\"max_tokens\":99999999999," + HELLO + "}",
        "{\"model\":\"m\",\"n\":2," + HELLO + "}",
        "{\"model\":\"m\",\"stream_options\":[]," + HELLO + "}",
        "{\"model\":\"\u00ff",
      })
  void whatCannotBeAnsweredIsRefusedInTheDialectOfItsPath(String body) throws Exception {
    HttpResponse<String> chat = post(quick, CHAT, body);
    HttpResponse<String> messages = post(quick, MESSAGES, body);

    assertThat(chat.statusCode()).isEqualTo(400);
    assertThat(chat.body()).startsWith("{\"error\":{\"message\":\"").contains("(expected: ");
    assertThat(messages.statusCode()).isEqualTo(400);
    assertThat(messages.body())
        .startsWith("{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",");
  }

  @Test
  void bytesThatAreNoUtf8AndDepthWithoutEndAreRefused() throws Exception {
    byte[] latin = "{\"model\":\"é\"}".getBytes(StandardCharsets.ISO_8859_1);
    byte[] deep = ("{\"x\":" + "[".repeat(100_000)).getBytes(StandardCharsets.UTF_8);

    for (byte[] body : List.of(latin, deep)) {
      HttpRequest request =
          HttpRequest.newBuilder(uri(quick).resolve(CHAT))
              .POST(BodyPublishers.ofByteArray(body))
              .build();
      assertThat(http.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(400);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /v1/chat/completions, 405",
    "HEAD, /v1/messages, 405",
    "GET, /v1/models, 404",
    "POST, /, 404"
  })
  void otherPathsAndMethodsAreRefused(String method, String path, int status) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri(quick).resolve(path))
            .method(method, BodyPublishers.noBody())
            .build();

    HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());

    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.headers().firstValue("allow").orElse("none"))
        .isEqualTo(status == 405 ? "POST" : "none");
  }

  @Test
  void aQueryChangesNothing() throws Exception {
    assertThat(post(quick, MESSAGES + "?beta=true", "{\"model\":\"m\"," + HELLO + "}").statusCode())
        .isEqualTo(200);
  }

  @Test
  void requestsSentAheadAreAnsweredInOrderOnOneConnection() throws Exception {
    String stream = "{\"model\":\"first\",\"stream\":true,\"max_tokens\":2," + HELLO + "}";
    String whole = "{\"model\":\"second\",\"max_tokens\":2," + HELLO + "}";

    String answers = raw(quick, head(CHAT, "HTTP/1.1", stream) + head(CHAT, "HTTP/1.0", whole));

    assertThat(answers.indexOf("[DONE]")).isPositive();
    assertThat(answers.indexOf("second")).isGreaterThan(answers.indexOf("[DONE]"));
  }

  @Test
  void aBodyOverTheBoundIsRefusedBeforeItIsRead() throws Exception {
    String answer =
        raw(quick, "POST /v1/messages HTTP/1.1\r\nHost: demo\r\nContent-Length: 99999999\r\n\r\n");

    assertThat(answer).startsWith("HTTP/1.1 413 ").contains("\"type\":\"request_too_large\"");
  }

  @Test
  void aStreamForAnHttp10ClientEndsWithItsConnectionAndHasNoChunks() throws Exception {
    String body = "{\"model\":\"m\",\"stream\":true,\"max_tokens\":2," + HELLO + "}";

    String answer = raw(quick, head(CHAT, "HTTP/1.0", body));

    assertThat(answer.toLowerCase(Locale.ROOT)).doesNotContain("transfer-encoding");
    assertThat(answer).contains("\r\n\r\ndata: {").endsWith("data: [DONE]\n\n");
  }

  @Test
  void aStreamStopsWhenItsClientIsGone() throws Exception {
    HttpRequest request = request(slow, CHAT, "{\"model\":\"m\",\"stream\":true," + HELLO + "}");
    InputStream body = http.send(request, BodyHandlers.ofInputStream()).body();
    assertThat(body.read()).isEqualTo('d');
    assertThat(slow.runningStreams()).isEqualTo(1);

    body.close();

    eventually(() -> slow.runningStreams() == 0);
  }

  private static void eventually(BooleanSupplier condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("time left").isLessThan(deadline);
      group.submit(() -> {}).get(10, TimeUnit.SECONDS); // one turn of the loop
    }
  }

  private static ChatCompletionCreateParams.Builder chat() {
    return ChatCompletionCreateParams.builder().model("small").addUserMessage("Hello there");
  }

  private static MessageCreateParams.Builder messages() {
    return MessageCreateParams.builder().model("small").addUserMessage("Hello there");
  }

  private static List<ChatCompletionChunk> stream(ChatCompletionCreateParams params) {
    try (StreamResponse<ChatCompletionChunk> stream =
        openAi.chat().completions().createStreaming(params)) {
      return stream.stream().toList();
    }
  }

  private static String text(List<ChatCompletionChunk> chunks) {
    return chunks.stream()
        .flatMap(chunk -> chunk.choices().stream())
        .flatMap(choice -> choice.delta().content().stream())
        .collect(Collectors.joining());
  }

  private static URI uri(DemoUpstream upstream) {
    return URI.create("http://127.0.0.1:" + upstream.port());
  }

  private static HttpResponse<String> post(DemoUpstream upstream, String path, String body)
      throws IOException, InterruptedException {
    return http.send(request(upstream, path, body), BodyHandlers.ofString());
  }

  private static HttpRequest request(DemoUpstream upstream, String path, String body) {
    return HttpRequest.newBuilder(uri(upstream).resolve(path))
        .header("content-type", "application/json")
        .timeout(Duration.ofSeconds(20))
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  private static String head(String path, String version, String body) {
    return "POST "
        + path
        + " "
        + version
        + "\r\nHost: demo\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  /** Sends bytes, and reads until the other side closes. */
  private static String raw(DemoUpstream upstream, String bytes) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), upstream.port())) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(bytes.getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
