package dev.sluice.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an upstream said when it refused a request, and what an answer says of tokens. */
class UpstreamAnswerTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'error':{'message':'too long','type':'invalid_request_error','code':null}}",
        "{'type':'error','error':{'type':'invalid_request_error','message':'too long'}}",
        "{'object':'error','message':'too long','type':'BadRequestError','code':400}",
        "{'error':'too long'}",
        "{'message':'too long'}",
        "{'detail':'too long'}",
        "{'detail':[{'loc':['body',1],'msg':'too long','type':'t'},{'msg':'other'}]}",
        "{'detail':{'msg':'too long'}}",
        " {'message':'no','error':{'message':'too long'},'detail':'no'}",
        "{'message':'too long','error':null}",
        "{'message':'too long','error':{'message':''}}",
        "{'message':'too long','error':{'message':{'message':'no'}}}",
        "{'message':'too long','error':'  '}",
        "{'err\\u006fr':{'m\\u0065ssage':'too\\u0020long'}}",
        "{'error':{'message':'\\ttoo\\nlong\\u0000'}}",
        "{'error':{'message':'too long'},",
        "{'error':{'message':'too long'",
        "{'error':{'message':'too long'}}}}<html>"
      })
  void itsMessageIsFound(String body) {
    assertThat(message(Bodies.bytes(body))).isEqualTo("too long");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "null",
        "'error'",
        "[{'error':'x'}]",
        "<html>error</html>",
        "{}",
        "{'error':{}}",
        "{'error':1}",
        "{'error':[]}",
        "{'error':''}",
        "{'error':'\\u0000'}",
        "{'error':{'message':1}}",
        "{'error':{'detail':'x'}}",
        "{'detail':[[],{}]}",
        "{'code':400,'reason':'x'}",
        "{'error':'x"
      })
  void whereItSaidNothingThereIsNone(String body) {
    assertThat(message(Bodies.bytes(body))).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':4,'total_tokens':7}} | 3 | 4",
        "{'usage':{'input_tokens':3,'output_tokens':4},'content':[]}                     | 3   | 4",
        "{'usage':{'input_tokens':3,'cache_read_input_tokens':90,"
            + "'cache_creation_input_tokens':700,'output_tokens':4}}                     | 793 | 4",
        "{'usage':{'prompt_tokens':3,'total_tokens':3}}                                  | 3   | -1",
        "{'usage':{'prompt_tokens':1},'usage':{'prompt_tokens':3}}                       | 3   | -1",
        "{'usage':{'a':{'prompt_tokens':1},'prompt_tokens' : 3 , 'b':[1]}}               | 3   | -1",
        "{'usage':{'prompt_tokens':1000000000,'completion_tokens':1000000001}}    | 1000000000 | -1",
        "{'usage':{'prompt_tokens':4294967297,'completion_tokens':99999999999999999999}} | -1  | -1",
        "{'usage':{'prompt_tokens':-3,'completion_tokens':'4'}}                          | -1  | -1",
        "{'usage':{'prompt_tokens':3.0,'completion_tokens':4e0}}                         | -1  | -1",
        "{'usage':null}                                                                  | -1  | -1",
        "{'usage':[{'prompt_tokens':3}]}                                                 | -1  | -1",
        "{'content':[{'input':{'usage':{'input_tokens':3}}}]}                            | -1  | -1",
        "[{'usage':{'input_tokens':3}}]                                                  | -1  | -1",
        "7                                                                               | -1  | -1",
      })
  void whatAnAnswerSaysOfTokensIsRead(String body, long input, long output) {
    assertThat(usage(Bodies.bytes(body))).contains(new Usage(input, output));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{'usage':{'prompt_tokens':3}",
        "{'usage':{'prompt_tokens':3}}}",
        "{'usage':{'prompt_tokens':03}}",
        "{'usage':{'prompt_tokens':3,}}",
        "{'usage':{'prompt_tokens':}}",
        "{'usage':{'prompt_tokens':3}} {}",
      })
  void whatIsNoJsonIsNoAnswer(String body) {
    assertThat(usage(Bodies.bytes(body))).isEmpty();
  }

  @Test
  void aLongMessageIsCut() {
    int most = UpstreamAnswer.MAX_MESSAGE_CHARS;
    assertThat(message(Bodies.bytes("{'error':'" + "x".repeat(most) + "'}"))).hasSize(most);
    assertThat(message(Bodies.bytes("{'error':'" + "x".repeat(most + 1) + "'}"))).hasSize(most);
    assertThat(message(Bodies.bytes("{'error':'" + "x".repeat(5_000_000) + "'}"))).hasSize(most);
    assertThat(message(Bodies.bytes("{'error':'" + "\\u0041".repeat(5_000) + "'}")))
        .isEqualTo("A".repeat(most));
    assertThat(message(Bodies.bytes("{'error':'" + "\u6f22".repeat(5_000) + "'}")))
        .isEqualTo("\u6f22".repeat(most));
    assertThat(message(Bodies.bytes("{'error':'x" + "\ud83d\ude00".repeat(5_000) + "'}")))
        .isEqualTo("x" + "\ud83d\ude00".repeat(most / 2 - 1));
  }

  @Test
  void controlCharactersAndHalfCharactersAreReplaced() {
    assertThat(message(Bodies.bytes("{'error':'a\\r\\nb\\u001b\\u0085\\u2028\\ud800c\u007fd'}")))
        .isEqualTo("a  b    c d");
  }

  @Test
  void noBytesMakeItThrow() {
    long seed = 4_711;
    Random random = new Random(seed);
    byte[] valid =
        "{\"error\":{\"message\":\"to\\u006f l\u00f6ng\\n\"},\"detail\":[{\"msg\":\"x\"}]}"
            .getBytes(UTF_8);
    for (int round = 0; round < 100_000; round++) {
      byte[] body = valid.clone();
      for (int i = random.nextInt(4); i >= 0; i--) {
        body[random.nextInt(body.length)] = (byte) random.nextInt();
      }
      int offset = random.nextInt(3);
      int length = random.nextInt(body.length - offset + 1);
      String message = UpstreamAnswer.errorMessage(body, offset, length);
      if (message != null) {
        assertThat(message).as("seed %d, round %d", seed, round).isNotBlank();
        assertThat(UTF_8.newEncoder().canEncode(message)).isTrue();
      }
      UpstreamAnswer.read(body, offset, length);
    }
  }

  @Test
  void depthIsBounded() {
    assertThat(message(Bodies.bytes("{'detail':" + "[".repeat(1_000_000)))).isNull();
    assertThat(message(Bodies.bytes("{'message':'x','a':" + "{'a':".repeat(1_000_000))))
        .isEqualTo("x");
  }

  private static Optional<Usage> usage(byte[] body) {
    return UpstreamAnswer.read(body, 0, body.length);
  }

  private static @Nullable String message(byte[] body) {
    return UpstreamAnswer.errorMessage(body, 0, body.length);
  }
}
