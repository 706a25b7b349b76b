package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.PRO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.sluice.testing.Answer;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Wire;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The rules of a request's shape, each with what is just right and what is just wrong. */
class RequestShapeIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String PNG = "iVBORw0KGgo=";

  private final RawClient client = SCENE.client();

  @AfterEach
  void close() {
    client.close();
  }

  private static String messages(String messages) {
    return "{\"model\":\"small\",\"messages\":" + messages + "}";
  }

  private static String content(String content) {
    return messages("[{\"role\":\"user\",\"content\":" + content + "}]");
  }

  private static String member(String member) {
    return "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
        + member
        + "}";
  }

  private static String imageUrl(String url) {
    return content("[{\"type\":\"image_url\",\"image_url\":{\"url\":\"" + url + "\"}}]");
  }

  private static String imageSource(String source) {
    return content("[{\"type\":\"image\",\"source\":" + source + "}]");
  }

  private static String base64Source(String mediaType, String data) {
    return imageSource(
        "{\"type\":\"base64\",\"media_type\":\"" + mediaType + "\",\"data\":\"" + data + "\"}");
  }

  static Stream<String> validOnBoth() {
    return Stream.of(
        content("\"hi\""),
        content("\"\""),
        content("[]"),
        " \t\r\n" + content("\"hi\"") + " \t\r\n",
        content("[{\"type\":\"text\",\"text\":\"\"}]"),
        content("[{\"type\":\"input_audio\",\"input_audio\":7}]"),
        content("[{\"type\":\"nobody_knows\"},{\"type\":\"text\",\"text\":\"x\",\"more\":[]}]"),
        messages("[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}]"),
        messages("[{\"role\":\"assistant\",\"tool_calls\":[{}]}]"),
        messages("[{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":\"f\"}}]"),
        messages("[{\"role\":\"assistant\",\"function_call\":{}}]"),
        messages("[{\"tool_calls\":[],\"content\":null,\"role\":\"assistant\"}]"),
        messages(
            "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"}]"),
        member("\"stream\":false"),
        member("\"stream\":null"),
        member("\"nobody_defined\":{\"a\":[1,true,null,\"x\"]}"),
        member("\"max_tokens\":1,\"temperature\":0.5"),
        "{\"messages\":[{\"content\":\"hi\",\"role\":\"user\"}],\"model\":\"small\"}",
        "{\"mod\\u0065l\":\"sm\\u0061ll\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
        imageUrl("data:image/png;base64," + PNG),
        imageUrl("DATA:IMAGE/PNG;BASE64," + PNG),
        imageUrl("data:image/svg+xml;charset=utf-8;base64," + PNG),
        imageUrl("data:image\\/png;base64,AAA\\/"),
        imageUrl("d\\u0061ta:image/png;base64,\\u0041AAA"),
        imageUrl("data:image/jpeg;base64,AA=="),
        imageUrl("data:image/jpeg;base64,AAA="),
        imageUrl("data:image/jpeg;base64,+/+/"),
        base64Source("image/png", PNG),
        base64Source("IMAGE/PNG", PNG),
        imageSource("{\"data\":\"AAAA\",\"media_type\":\"image/gif\",\"type\":\"base64\"}"),
        imageSource("{\"type\":\"url\",\"url\":\"data:image/png;base64," + PNG + "\"}"));
  }

  static Stream<String> invalidJson() {
    return Stream.of(
        "",
        " ",
        "{",
        "[]",
        "null",
        "\"text\"",
        "7",
        content("\"hi\"") + "x",
        content("\"hi\"") + content("\"hi\""),
        content("\"hi\"") + ",",
        content("'hi'"),
        content("\"a\nb\""),
        content("\"\\x\""),
        content("\"\\u00g0\""),
        member("\"n\":01"),
        member("\"n\":NaN"),
        member("\"n\":+1"),
        member("\"n\":.5"),
        member("\"n\":1."),
        member("// comment\n\"n\":1"),
        member("n:1"),
        member("\"n\":1,"),
        member("\"a\":" + "[".repeat(5000) + "]".repeat(5000)),
        member("\"a\":" + "{\"a\":".repeat(5000) + "1" + "}".repeat(5000)),
        member("\"a\":" + "1".repeat(20_000)),
        member("\"" + "a".repeat(60_000) + "\":1"));
  }

  static Stream<Arguments> invalidShape() {
    return Stream.of(
        arguments("model", "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"),
        arguments(
            "model", "{\"model\":\"\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"),
        arguments(
            "model", "{\"model\":null,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"),
        arguments(
            "model",
            "{\"model\":[\"small\"],\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"),
        arguments("model", member("\"model\":\"small\"")),
        arguments("model", member("\"mod\\u0065l\":\"other\"")),
        arguments("messages", member("\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]")),
        arguments("stream", member("\"stream\":true,\"stream\":false")),
        arguments("stream", member("\"stream\":null,\"stream\":null")),
        arguments("stream", member("\"stream\":\"true\"")),
        arguments("stream", member("\"stream\":1")),
        arguments("stream", member("\"stream\":{}")),
        arguments("messages", "{\"model\":\"small\"}"),
        arguments("messages", messages("null")),
        arguments("messages", messages("[]")),
        arguments("messages", messages("{}")),
        arguments("messages", messages("\"hi\"")),
        arguments("messages[0]", messages("[\"hi\"]")),
        arguments("messages[0]", messages("[null]")),
        arguments("messages[0]", messages("[[]]")),
        arguments("messages[1]", messages("[{\"role\":\"user\",\"content\":\"hi\"},7]")),
        arguments("messages[0].role", messages("[{\"content\":\"hi\"}]")),
        arguments("messages[0].role", messages("[{\"role\":\"\",\"content\":\"hi\"}]")),
        arguments("messages[0].role", messages("[{\"role\":null,\"content\":\"hi\"}]")),
        arguments("messages[0].role", messages("[{\"role\":1,\"content\":\"hi\"}]")),
        arguments("messages[0].content", messages("[{\"role\":\"user\"}]")),
        arguments("messages[0].content", content("null")),
        arguments("messages[0].content", content("7")),
        arguments("messages[0].content", content("true")),
        arguments("messages[0].content", content("{\"type\":\"text\",\"text\":\"x\"}")),
        arguments("messages[0].content[0]", content("[\"hi\"]")),
        arguments("messages[0].content[0]", content("[null]")),
        arguments("messages[0].content[0].type", content("[{}]")),
        arguments("messages[0].content[0].type", content("[{\"type\":7}]")),
        arguments("messages[0].content[0].type", content("[{\"type\":null}]")),
        arguments("messages[0].content[0].text", content("[{\"type\":\"text\"}]")),
        arguments("messages[0].content[0].text", content("[{\"type\":\"text\",\"text\":null}]")),
        arguments(
            "messages[0].content[1].text",
            content("[{\"type\":\"x\"},{\"text\":[],\"type\":\"text\"}]")),
        arguments("temperature", member("\"temperature\":\"hot\"")),
        arguments("max_tokens", member("\"max_tokens\":\"many\"")),
        arguments("metadata", member("\"metadata\":[]")),
        arguments("tools", member("\"tools\":{}")),
        arguments("image_url", content("[{\"type\":\"image_url\"}]")),
        arguments(
            "image_url",
            content("[{\"type\":\"image_url\",\"image_url\":\"data:image/png;base64,AAAA\"}]")),
        arguments("image_url.url", content("[{\"type\":\"image_url\",\"image_url\":{}}]")),
        arguments(
            "image_url.url", content("[{\"type\":\"image_url\",\"image_url\":{\"url\":null}}]")),
        arguments("image_url.url", imageUrl("https://example.com/a.png")),
        arguments("image_url.url", imageUrl("http://example.com/a.png")),
        arguments("image_url.url", imageUrl("")),
        arguments("image_url.url", imageUrl("data:")),
        arguments("image_url.url", imageUrl("data:image/png;base64,")),
        arguments("image_url.url", imageUrl("data:image/png;base64")),
        arguments("image_url.url", imageUrl("data:image/png," + PNG)),
        arguments("image_url.url", imageUrl("data:image/;base64," + PNG)),
        arguments("image_url.url", imageUrl("data:text/plain;base64," + PNG)),
        arguments("image_url.url", imageUrl("data:;base64," + PNG)),
        arguments("image_url.url", imageUrl("data:image/png;base64,AAA")),
        arguments("image_url.url", imageUrl("data:image/png;base64,A===")),
        arguments("image_url.url", imageUrl("data:image/png;base64,AA=A")),
        arguments("image_url.url", imageUrl("data:image/png;base64,AAAA=")),
        arguments("image_url.url", imageUrl("data:image/png;base64,AA-_")),
        arguments("image_url.url", imageUrl("data:image/png;base64,AA A")),
        arguments("image_url.url", imageUrl("data:image/png;base64,AAAA\\n")),
        arguments("image_url.url", imageUrl("data:image/png;base64,AA%3D%3D")),
        arguments("image_url.url", imageUrl(" data:image/png;base64," + PNG)),
        arguments("source", content("[{\"type\":\"image\"}]")),
        arguments("source", content("[{\"type\":\"image\",\"source\":\"x\"}]")),
        arguments("source.type", imageSource("{\"data\":\"AAAA\",\"media_type\":\"image/png\"}")),
        arguments("source.data", base64Source("image/png", "")),
        arguments("source.data", base64Source("image/png", "AAA")),
        arguments("source.data", imageSource("{\"type\":\"base64\",\"media_type\":\"image/png\"}")),
        arguments("source.media_type", base64Source("text/plain", PNG)),
        arguments("source.media_type", imageSource("{\"type\":\"base64\",\"data\":\"AAAA\"}")),
        arguments(
            "source.url", imageSource("{\"type\":\"url\",\"url\":\"https://example.com/a.png\"}")),
        arguments("source.url", imageSource("{\"type\":\"url\"}")));
  }

  private Answer send(String path, String json) {
    return client.exchange(Request.post(path, json).key(PRO));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("validOnBoth")
  void isValidAndGoesOnByteForByte(String json) {
    for (String path : List.of(CHAT, MESSAGES)) {
      Answer answer = send(path, json);
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(SCENE.upstream.take().body()).isEqualTo(Wire.utf8(json));
    }
  }

  @ParameterizedTest
  @MethodSource("invalidJson")
  void isNoJsonObjectWithinTheBounds(String json) {
    for (String path : List.of(CHAT, MESSAGES)) {
      assertError(send(path, json), 400);
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @ParameterizedTest(name = "{0} in {1}")
  @MethodSource("invalidShape")
  void breaksARuleThatTheMessageNames(String path, String json) {
    for (String operation : List.of(CHAT, MESSAGES)) {
      assertThat(assertError(send(operation, json), 400)).contains(path);
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @Test
  void onlyUtf8IsRead() {
    List<String> bodies =
        List.of(
            content("\"\u00ff\""),
            content("\"\u00c0\u00af\""),
            content("\"\u00ed\u00a0\u0080\""),
            content("\"\u00f4\u0090\u0080\u0080\""),
            content("\"\u00e2\u0082\""),
            "\u00ef\u00bb\u00bf" + content("\"hi\""),
            new String(
                content("\"hi\"").getBytes(StandardCharsets.UTF_16), StandardCharsets.ISO_8859_1));
    for (String wire : bodies) {
      Request request =
          Request.post(CHAT, "")
              .key(PRO)
              .rawBody(wire)
              .header("Content-Length", Integer.toString(wire.length()));
      assertError(client.exchange(request), 400);
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }
}
