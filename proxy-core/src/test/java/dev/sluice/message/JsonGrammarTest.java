package dev.sluice.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is one JSON document in UTF-8, by RFC 8259 and RFC 3629, and what is not. */
class JsonGrammarTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "''",
        "'a'",
        "'\\'\\\\\\/\\b\\f\\n\\r\\t'",
        "'\\u0000\\uFfFf\\u00e9'",
        "'\\ud83d\\ude00'",
        "'\\ud800'",
        "'\\udc00\\ud800'",
        "'\u007f\u0080\u07ff\u0800\uffff'",
        "'\ud83d\ude00 \udbff\udfff'",
        "0",
        "-0",
        "-1",
        "10",
        "1.0",
        "0.5",
        "-0.0e-0",
        "1e5",
        "1E+05",
        "123456789012345678901234567890.5e-300",
        "1e99999",
        "true",
        "false",
        "null",
        "[]",
        "[ ]",
        "[[],{}]",
        "[1 , 2\t,\r\n3]",
        "{}",
        "{ }",
        "{'a':1,'a':2}",
        "{'':0}",
        "{'a' : { 'b' : [ true ] } }"
      })
  void everyLegalValueIsAccepted(String value) {
    assertThat(isJson("{'v':" + value + "}")).isTrue();
    assertThat(isJson(" \t\r\n{ 'v' : " + value + " } \t\r\n")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "'",
        "'a",
        "'a\\",
        "'a\\'",
        "'\\x'",
        "'\\a'",
        "'\\0'",
        "'\\u'",
        "'\\u12'",
        "'\\u12g4'",
        "'\\u 123'",
        "'\\U0041'",
        "'\n'",
        "'\t'",
        "'\u0000'",
        "'\u001f'",
        "'12345678\u0001'",
        "a",
        "+1",
        "-",
        "--1",
        "- 1",
        "01",
        "-01",
        "00",
        ".5",
        "1.",
        "1.e1",
        "1e",
        "1e+",
        "1e1.5",
        "1_0",
        "0x10",
        "1a",
        "1 2",
        "NaN",
        "Infinity",
        "-Infinity",
        "True",
        "tru",
        "truer",
        "nul",
        "nulll",
        "undefined",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1,,2]",
        "[1 2]",
        "[1}",
        "{",
        "{'a'",
        "{'a':",
        "{'a':1",
        "{'a':1,",
        "{'a':1,}",
        "{,'a':1}",
        "{'a' 1}",
        "{'a'::1}",
        "{a:1}",
        "{1:1}",
        "{'a':1]",
        "{'a'}",
        "{null:1}",
        "/**/1",
        "1//",
        "#",
        "\u00a01",
        "\f1",
        "\u000b1",
        "`a`"
      })
  void nothingElseIs(String value) {
    assertThat(isJson("{'v':" + value + "}")).isFalse();
    assertThat(isJson("{'v':" + value)).isFalse();
  }

  @Test
  void aStringInSingleQuotesIsNot() {
    byte[] body = "{\"v\":'a'}".getBytes(UTF_8);
    assertThat(UpstreamAnswer.read(body, 0, body.length).isPresent()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\n\n", "a"})
  void whatIsNoValueIsNoDocument(String body) {
    assertThat(isJson(body)).isFalse();
    Bodies.refused(body, Reason.JSON_MALFORMED, "body: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "'a'", "1", "null", "true", " [1, {}] "})
  void anotherValueThanAnObjectIsADocumentButNoRequest(String body) {
    assertThat(isJson(body)).isTrue();
    Bodies.refused(body, Reason.JSON_MALFORMED, "body: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "[]", ",", "}", "x", "0", "//", "\u0000", "\f"})
  void whatFollowsTheObjectIsRefused(String rest) {
    String body = Bodies.messages("{'role':'user','content':'x'}");
    Bodies.accepted(body + " \r\n\t");
    assertThat(isJson(body + rest)).isFalse();
    Bodies.refused(body + " " + rest, Reason.JSON_MALFORMED, "body: ");
  }

  @ParameterizedTest
  @CsvSource({
    "efbbbf7b7d, UTF-8 with a byte order mark",
    "feff007b007d, UTF-16 big-endian with a byte order mark",
    "fffe7b007d00, UTF-16 little-endian with a byte order mark",
    "007b007d, UTF-16 big-endian",
    "7b007d00, UTF-16 little-endian",
    "0000007b0000007d, UTF-32"
  })
  void anotherEncodingIsRefused(String hex, String what) {
    byte[] body = HexFormat.of().parseHex(hex);
    assertThat(UpstreamAnswer.read(body, 0, body.length).isPresent()).as(what).isFalse();
    Failure failure = Bodies.failure(body, Operation.MESSAGES);
    assertThat(failure.reason()).isEqualTo(Reason.JSON_MALFORMED);
    assertThat(failure.message()).contains("0x").contains("at byte");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "c280",
        "dfbf",
        "e0a080",
        "e18080",
        "ed9fbf",
        "ee8080",
        "efbfbf",
        "f0908080",
        "f1808080",
        "f48fbfbf",
        "7f",
        "c3a9e282acf09f9880"
      })
  void wellFormedUtf8IsAccepted(String hex) {
    assertThat(isJsonWithText(hex)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "80",
        "bf",
        "c0af",
        "c080",
        "c1bf",
        "c2",
        "c27f",
        "c2c0",
        "e0",
        "e080",
        "e08080",
        "e09fbf",
        "e0a0",
        "e0a07f",
        "e0a0c0",
        "e180",
        "eda080",
        "edbfbf",
        "edafbfedbfbf",
        "f0",
        "f0808080",
        "f08fbfbf",
        "f09080",
        "f0908000",
        "f09080c0",
        "f4908080",
        "f5808080",
        "f7bfbfbf",
        "f888808080",
        "fc8480808080",
        "fe",
        "ff",
        "e9",
        "c3a9ff",
        "f0c08080",
        "e1c080"
      })
  void malformedUtf8IsRefusedInTextsAndNames(String hex) {
    assertThat(isJsonWithText(hex)).isFalse();
    byte[] inName = Bodies.bytes("{'", HexFormat.of().parseHex(hex), "':1}");
    assertThat(UpstreamAnswer.read(inName, 0, inName.length).isPresent()).isFalse();
    byte[] atEnd = Bodies.bytes("{'v':'", HexFormat.of().parseHex(hex), "");
    assertThat(UpstreamAnswer.read(atEnd, 0, atEnd.length).isPresent()).isFalse();
  }

  @Test
  void aSpecialByteIsSeenAtEveryPlaceOfAString() {
    for (int length = 1; length < 40; length++) {
      for (int place = 0; place < length; place++) {
        for (char special : new char[] {0, 1, 0x1f, '\n', '\\'}) {
          StringBuilder text = new StringBuilder("a".repeat(length));
          text.setCharAt(place, special);
          assertThat(isJson("{'v':'" + text + "'}")).as("%d of %d", place, length).isFalse();
        }
        StringBuilder text = new StringBuilder("a".repeat(length));
        text.setCharAt(place, '\u00e9');
        assertThat(isJson("{'v':'" + text + "'}")).as("%d of %d", place, length).isTrue();
      }
    }
  }

  @Test
  void bytesOutsideTheRangeAreNeitherReadNorNeeded() {
    byte[] body = Bodies.bytes("}{'v':'text'}x'");
    assertThat(UpstreamAnswer.read(body, 1, body.length - 3).isPresent()).isTrue();
    for (int length = 0; length < body.length - 3; length++) {
      assertThat(UpstreamAnswer.read(body, 1, length).isPresent()).isFalse();
    }
  }

  @Test
  void aRefusalSaysTheByteAndWhatWasExpected() {
    Bodies.refused("", Reason.JSON_MALFORMED, "body: ends at byte 0 (expected: \"{\" of one JSON");
    Bodies.refused(
        "{'a':1 'b':2}",
        Reason.JSON_MALFORMED,
        "body: \"\"\" at byte 7 (expected: \",\" or \"}\")");
    Bodies.refused(
        "{'a':1,}", Reason.JSON_MALFORMED, "body: \"}\" at byte 7 (expected: a name in double");
    Bodies.refused("{'a' 1}", Reason.JSON_MALFORMED, "body: \"1\" at byte 5 (expected: \":\")");
    Bodies.refused("{'a':x}", Reason.JSON_MALFORMED, "body: \"x\" at byte 5 (expected: a value)");
    Bodies.refused("{'a':1.}", Reason.JSON_MALFORMED, "body: \"}\" at byte 7 (expected: a digit)");
    Bodies.refused(
        "{'a':'\n'}", Reason.JSON_MALFORMED, "body: 0x0A at byte 6 (expected: no control");
    Bodies.refused(
        "{'a':'bc", Reason.JSON_MALFORMED, "body: ends at byte 8 (expected: \"\\\"\" at");
    Bodies.refused("{'a':'\\q'}", Reason.JSON_MALFORMED, "body: \"q\" at byte 7 (expected: one of");
    Bodies.refused(
        "{'a':'\\u00'}", Reason.JSON_MALFORMED, "body: \"\"\" at byte 10 (expected: four");
    assertThat(
            Bodies.failure(
                    Bodies.bytes("{'a':'", new byte[] {(byte) 0xc0}, "'}"), Operation.MESSAGES)
                .message())
        .isEqualTo("body: 0xC0 at byte 6 (expected: valid UTF-8)");
  }

  private static boolean isJson(String quoted) {
    byte[] body = Bodies.bytes(quoted);
    return UpstreamAnswer.read(body, 0, body.length).isPresent();
  }

  private static boolean isJsonWithText(String hex) {
    byte[] body = Bodies.bytes("{'v':'", HexFormat.of().parseHex(hex), "'}");
    return UpstreamAnswer.read(body, 0, body.length).isPresent();
  }
}
