package dev.sluice.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.sluice.error.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bodies broken at random, held against a second reader: strict UTF-8 decoding, then Jackson over
 * the characters, every token read.
 */
class RequestFuzzTest {
  private static final JsonFactory JACKSON = new JsonFactory();
  private static final int ROUNDS = 60_000;

  private static final List<String> VALID =
      List.of(
          "{'model':'m','messages':[{'role':'user','content':'hello, w\u00f6rld \ud83d\ude00'}]}",
          "{'model':'\\u006d\\/\\ud83d\\ude00','stream':true,'temperature':-0.5e+1,'messages':"
              + "[{'role':'user','content':[{'type':'text','text':'x\\n'},{'image_url':{'url':"
              + "'data:image\\/png;base64,iVBORw0KGgoAAAANSUhEUg=='},'type':'image_url'}]}]}",
          "{'model':'m','max_tokens':16,'system':[{}],'messages':[{'role':'user','content':["
              + "{'type':'image','source':{'type':'base64','media_type':'image/png','data':"
              + "'iVBORw0KGgoAAAANSUhEUg=='}},{'type':'tool_result','content':[{'type':'text',"
              + "'text':''}]}]},{'role':'assistant','content':null,'tool_calls':[]}]}",
          " {\t'model' :\r\n'm' , 'x':[1, -2.0 ,3e7,true , false,null,{},[ ],{'a':{'b':[[0]]}}],"
              + "'messages':[{'content':'','role':'r'}]} \n");

  /** What a mutation may put in: the bytes that mean something, and some that break. */
  private static final byte[] SPECIAL = "{}[]\",:\\/u0019eE+-.tfnaA= \n\t".getBytes(UTF_8);

  @ParameterizedTest
  @ValueSource(longs = {1, 20_260_722, 0xdeadbeefL})
  void brokenBodiesAreFactsOrARefusalAndBothReadersAgree(long seed) {
    Random random = new Random(seed);
    int valid = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] body = mutated(random);
      boolean json = isJsonToASecondReader(body);
      valid += json ? 1 : 0;
      String what = "seed " + seed + ", round " + round + ": " + new String(body, UTF_8);
      assertThat(UpstreamAnswer.read(body, 0, body.length).isPresent()).as(what).isEqualTo(json);
      for (Operation operation : Operation.BUILT_IN) {
        Inspection inspection = Bodies.inspect(body, operation);
        if (inspection instanceof RequestFacts facts) {
          assertThat(json).as(what).isTrue();
          assertThat(text(body, facts)).as(what).isEqualTo(facts.model());
        } else if (inspection instanceof Refusal refusal) {
          if (refusal.failure().reason() == Reason.JSON_MALFORMED) {
            assertThat(json).as(what).isFalse();
          }
          assertThat(refusal.failure().message()).as(what).contains("(expected: ");
        }
        assertThat(shifted(body, operation, random)).as(what).isEqualTo(inspection);
      }
    }
    // Else the mutations break everything, and nothing was compared.
    assertThat(valid).isBetween(ROUNDS / 50, ROUNDS - ROUNDS / 10);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void everyBodyThatBreaksOffIsRefused(int which) {
    byte[] body = Bodies.bytes(VALID.get(which).strip());
    for (Operation operation : Operation.BUILT_IN) {
      assertThat(Bodies.inspect(body, operation)).isInstanceOf(RequestFacts.class);
      for (int length = 0; length < body.length; length++) {
        Inspection inspection = RequestInspector.inspect(body, 0, length, operation);
        assertThat(((Refusal) inspection).failure().reason())
            .as("%d bytes", length)
            .isEqualTo(Reason.JSON_MALFORMED);
      }
    }
  }

  private static byte[] mutated(Random random) {
    byte[] body = Bodies.bytes(VALID.get(random.nextInt(VALID.size())));
    for (int changes = random.nextInt(3); changes >= 0; changes--) {
      int at = random.nextInt(body.length);
      byte with =
          random.nextInt(8) == 0
              ? (byte) random.nextInt()
              : SPECIAL[random.nextInt(SPECIAL.length)];
      switch (random.nextInt(5)) {
        case 0 -> body[at] = with;
        case 1 -> body = splice(body, at, at, new byte[] {with});
        case 2 -> body = splice(body, at, Math.min(body.length, at + 1), new byte[0]);
        case 3 -> {
          int to = Math.min(body.length, at + random.nextInt(12));
          body = splice(body, at, at, Arrays.copyOfRange(body, at, to));
        }
        default -> {
          int to = Math.min(body.length, at + random.nextInt(6));
          body = splice(body, at, to, new byte[0]);
        }
      }
      if (body.length == 0) {
        return body;
      }
    }
    return body;
  }

  private static byte[] splice(byte[] body, int from, int to, byte[] with) {
    return ByteBuffer.allocate(body.length - (to - from) + with.length)
        .put(body, 0, from)
        .put(with)
        .put(body, to, body.length - to)
        .array();
  }

  private static Inspection shifted(byte[] body, Operation operation, Random random) {
    int offset = random.nextInt(9);
    byte[] all = new byte[offset + body.length + random.nextInt(9)];
    random.nextBytes(all);
    System.arraycopy(body, 0, all, offset, body.length);
    return RequestInspector.inspect(all, offset, body.length, operation);
  }

  /** The text of the value that the facts point at, by the second reader. */
  private static String text(byte[] body, RequestFacts facts) {
    String json =
        new String(body, facts.modelStart(), facts.modelEnd() - facts.modelStart(), UTF_8);
    try (JsonParser parser = JACKSON.createParser(json)) {
      assertThat(parser.nextToken()).isEqualTo(JsonToken.VALUE_STRING);
      return parser.getText();
    } catch (IOException e) {
      throw new AssertionError(json, e);
    }
  }

  private static boolean isJsonToASecondReader(byte[] body) {
    String text;
    try {
      text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
    } catch (CharacterCodingException e) {
      return false;
    }
    try (JsonParser parser = JACKSON.createParser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      return parser.nextToken() == null && readsEveryText(text);
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean readsEveryText(String text) throws IOException {
    try (JsonParser parser = JACKSON.createParser(text)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        assertThat(parser.getText()).isNotNull();
      }
      return true;
    }
  }
}
