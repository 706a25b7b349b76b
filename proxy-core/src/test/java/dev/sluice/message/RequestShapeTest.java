package dev.sluice.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code model}, {@code stream}, {@code messages}, and what a message is. */
class RequestShapeTest {
  private static final String MESSAGES = "'messages':[{'role':'user','content':'x'}]";
  private static final Operation NO_MESSAGES =
      new Operation("embeddings", "/v1/embeddings", Dialect.OTHER, false);
  private static final Operation OTHER = new Operation("other", "/v1/other", Dialect.OTHER, true);

  @Test
  void theFactsOfARequestAreReadFromIt() {
    String body = "{ 'stream':true, 'model' : 'openai/gpt-oss-120b' ," + MESSAGES + "}";
    RequestFacts facts = Bodies.accepted(body, Operation.CHAT_COMPLETIONS);
    assertThat(facts.model()).isEqualTo("openai/gpt-oss-120b");
    assertThat(facts.stream()).isTrue();
    assertThat(body.substring(facts.modelStart(), facts.modelEnd()))
        .isEqualTo("'openai/gpt-oss-120b'");
  }

  @Test
  void offsetsCountFromWhereTheBodyBegins() {
    String before = "padding}\"";
    byte[] all = Bodies.bytes(before + "{'model':'m\u00e9'," + MESSAGES + "}" + "{rest");
    int length = all.length - before.length() - "{rest".length();
    Inspection there = RequestInspector.inspect(all, before.length(), length, OTHER);
    assertThat(there).isEqualTo(new RequestFacts("m\u00e9", false, 9, 14, 27, length - 2));
    Inspection cut = RequestInspector.inspect(all, before.length(), length - 1, OTHER);
    assertThat(((Refusal) cut).failure().message()).contains("ends at byte " + (length - 1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        " ",
        "\\u0061",
        "a\\/b",
        "\\ud83d\\ude00",
        "\ud83d\ude00",
        "\\u0000",
        "\u6f22\u5b57",
        "\\\\",
        "\\\""
      })
  void aModelIsAnyStringThatIsNotEmpty(String model) {
    RequestFacts facts = Bodies.accepted("{'model':'" + model + "'," + MESSAGES + "}", OTHER);
    assertThat(facts.model())
        .isEqualTo(
            model
                .replace("\\u0061", "a")
                .replace("\\/", "/")
                .replace("\\ud83d\\ude00", "\ud83d\ude00")
                .replace("\\u0000", "\0")
                .replace("\\\\", "\\")
                .replace("\\\"", "\""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"''", "1", "1.5", "true", "false", "null", "{}", "[]", "['m']"})
  void anythingElseIsNoModel(String model) {
    Bodies.refused("{'model':" + model + "," + MESSAGES + "}", Reason.REQUEST_SHAPE, "model: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\ud83d", "\\ude00", "a\\ud83d", "\\ud83da", "\\ud83d\\ud83d\\ude00"})
  void aModelWithHalfACharacterIsRefused(String model) {
    Bodies.refused(
        "{'model':'" + model + "'," + MESSAGES + "}",
        Reason.REQUEST_SHAPE,
        "model: half a surrogate pair");
    Bodies.accepted("{'model':'m','messages':[{'role':'user','content':'" + model + "'}]}");
  }

  @Test
  void aRequestWithoutModelIsRefused() {
    Bodies.refused(
        "{" + MESSAGES + "}", Reason.REQUEST_SHAPE, "model: missing (expected: non-empty");
    Bodies.refused("{}", Reason.REQUEST_SHAPE, "model: missing");
    Bodies.refused("{'Model':'m'," + MESSAGES + "}", Reason.REQUEST_SHAPE, "model: missing");
  }

  @Test
  void streamIsABooleanOrNull() {
    for (String type : Set.of("boolean", "null")) {
      for (String value : Bodies.valuesOf(type)) {
        String body = "{'model':'m','stream':" + value + "," + MESSAGES + "}";
        assertThat(Bodies.accepted(body, OTHER).stream()).isEqualTo(value.equals("true"));
      }
    }
    for (String type : Set.of("string", "integer", "fraction", "object", "array")) {
      for (String value : Bodies.valuesOf(type)) {
        Bodies.refused(
            "{'model':'m','stream':" + value + "," + MESSAGES + "}",
            Reason.REQUEST_SHAPE,
            "stream: ");
      }
    }
    assertThat(Bodies.accepted("{'model':'m'," + MESSAGES + "}", OTHER).stream()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'model':'m','model':'m'",
        "'model':'m','mod\\u0065l':'m'",
        "'\\u006d\\u006f\\u0064\\u0065\\u006c':'m','model':'n'",
        "'model':'m','stream':true,'stream':true",
        "'model':'m','stream':null,'\\u0073tream':true",
        "'model':'m','messages':[{'role':'user','content':'y'}]"
      })
  void aKeyThatDecidesAndStandsTwiceIsRefused(String fields) {
    String body = "{" + fields + "," + MESSAGES + "}";
    assertThat(Bodies.failure(Bodies.bytes(body), OTHER).message())
        .matches("(model|stream|messages): stands twice \\(expected: once\\)");
    Bodies.refused(body, Reason.REQUEST_SHAPE, "");
  }

  @Test
  void otherKeysMayStandTwice() {
    Bodies.accepted("{'model':'m','x':1,'x':2,'temperature':1,'temperature':0," + MESSAGES + "}");
  }

  @Test
  void aNameMayBeWrittenInEscapes() {
    RequestFacts facts =
        Bodies.accepted("{'\\u006dodel':'m','str\\u0065am':true," + MESSAGES + "}", OTHER);
    assertThat(facts.model()).isEqualTo("m");
    assertThat(facts.stream()).isTrue();
    assertThat(facts.modelStart()).isEqualTo(14);
    assertThat(facts.modelEnd()).isEqualTo(17);
    Bodies.refused(
        "{'model':'m','stre\\u0061m':1," + MESSAGES + "}", Reason.REQUEST_SHAPE, "stream: number");
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "''", "'x'", "1", "true", "{}", "{'role':'user'}", "[]"})
  void messagesAreANonEmptyArray(String messages) {
    Bodies.refused("{'model':'m','messages':" + messages + "}", Reason.REQUEST_SHAPE, "messages: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "''", "1", "true", "[]"})
  void aMessageIsAnObject(String message) {
    Bodies.refused(Bodies.messages(message), Reason.REQUEST_SHAPE, "messages[0]: ");
    Bodies.refused(
        Bodies.messages("{'role':'user','content':''}", message),
        Reason.REQUEST_SHAPE,
        "messages[1]: ");
  }

  @Test
  void messagesAreRequiredWhereTheOperationSaysSo() {
    Bodies.refused("{'model':'m'}", Reason.REQUEST_SHAPE, "messages: missing");
    assertThat(Bodies.failure(Bodies.bytes("{'model':'m'}"), OTHER).message())
        .startsWith("messages: missing");
    Bodies.accepted("{'model':'m','input':[1]}", NO_MESSAGES);
  }

  @Test
  void messagesThatAreNotRequiredAreCheckedAllTheSame() {
    assertThat(Bodies.failure(Bodies.bytes("{'model':'m','messages':[]}"), NO_MESSAGES).message())
        .startsWith("messages: empty");
    assertThat(Bodies.failure(Bodies.bytes("{'messages':[]}"), NO_MESSAGES).reason())
        .isEqualTo(Reason.REQUEST_SHAPE);
    Bodies.accepted("{'model':'m'," + MESSAGES + "}", NO_MESSAGES);
  }

  @Test
  void aRoleIsANonEmptyString() {
    Bodies.accepted(Bodies.messages("{'role':'anything','content':'x'}"));
    for (String role : new String[] {"''", "null", "1", "true", "{}", "[]"}) {
      Bodies.refused(
          Bodies.messages("{'role':" + role + ",'content':'x'}"),
          Reason.REQUEST_SHAPE,
          "messages[0].role: ");
    }
    Bodies.refused(
        Bodies.messages("{'content':'x'}"), Reason.REQUEST_SHAPE, "messages[0].role: missing");
  }

  @Test
  void contentIsAStringOrAnArrayOfParts() {
    for (String content : new String[] {"''", "'x'", "[]", "[{'type':'text','text':''}]"}) {
      Bodies.accepted(Bodies.messages("{'role':'user','content':" + content + "}"));
      Bodies.accepted(Bodies.messages("{'content':" + content + ",'role':'user'}"));
    }
    for (String content : new String[] {"1", "true", "{}", "{'type':'text','text':'x'}", "null"}) {
      Bodies.refused(
          Bodies.messages("{'role':'user','content':" + content + "}"),
          Reason.REQUEST_SHAPE,
          "messages[0].content: ");
    }
    Bodies.refused(
        Bodies.messages("{'role':'user'}"), Reason.REQUEST_SHAPE, "messages[0].content: missing");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"'tool_calls':[{'id':'c'}]", "'tool_calls':[]", "'function_call':{'name':'f'}"})
  void contentMayBeNullOrAbsentBesideACall(String call) {
    Bodies.accepted(Bodies.messages("{'role':'assistant'," + call + "}"));
    Bodies.accepted(Bodies.messages("{'role':'assistant','content':null," + call + "}"));
    Bodies.accepted(Bodies.messages("{" + call + ",'content':null,'role':'assistant'}"));
    Bodies.accepted(Bodies.messages("{" + call + ",'content':'x','role':'assistant'}"));
    Bodies.refused(
        Bodies.messages("{'role':'assistant','content':1," + call + "}"),
        Reason.REQUEST_SHAPE,
        "messages[0].content: number");
    Bodies.refused(
        Bodies.messages("{'role':'a'," + call + "}", "{'role':'a'}"),
        Reason.REQUEST_SHAPE,
        "messages[1].content: missing");
  }

  @ParameterizedTest
  @ValueSource(strings = {"'tool_calls':null", "'function_call':null", "'refusal':'no'"})
  void whatIsNoCallExcusesNoContent(String field) {
    Bodies.accepted(Bodies.messages("{'role':'assistant','content':'x'," + field + "}"));
    Bodies.refused(
        Bodies.messages("{'role':'assistant','content':null," + field + "}"),
        Reason.REQUEST_SHAPE,
        "messages[0].content: null");
    Bodies.refused(
        Bodies.messages("{'role':'assistant'," + field + "}"),
        Reason.REQUEST_SHAPE,
        "messages[0].content: missing");
  }

  @Test
  void aCallHasItsType() {
    for (String value : new String[] {"'x'", "1", "true", "{}"}) {
      Bodies.refused(
          Bodies.messages("{'role':'a','content':'','tool_calls':" + value + "}"),
          Reason.REQUEST_SHAPE,
          "messages[0].tool_calls: ");
    }
    for (String value : new String[] {"'x'", "1", "true", "[]"}) {
      Bodies.refused(
          Bodies.messages("{'role':'a','content':'','function_call':" + value + "}"),
          Reason.REQUEST_SHAPE,
          "messages[0].function_call: ");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'role':'a'",
        "'r\\u006fle':'a'",
        "'content':'y'",
        "'content':[]",
        "'tool_calls':[]",
        "'function_call':{}"
      })
  void aMessageWithAKeyThatDecidesTwiceIsRefused(String again) {
    String message = "{'role':'a','content':'x','tool_calls':[],'function_call':{},'x':1,'x':1";
    Bodies.accepted(Bodies.messages(message + "}"));
    Bodies.refused(
        Bodies.messages(message + "," + again + "}"), Reason.REQUEST_SHAPE, "messages[0].");
  }
}
