package dev.sluice.sse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which line makes a stream whole, and from when on. */
class TerminatorTest {
  private static final int FUZZ_ROUNDS = 5000;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // / stands for LF, < for CR: stream | may it end here | has the terminator's event ended
        "'data: [DONE]//'             | true  | true",
        "'data:[DONE]//'              | true  | true",
        "'data: [DONE]</</'           | true  | true",
        "'data: [DONE]<<'             | true  | true",
        "'data: [DONE]/'              | true  | false",
        "'data: [DONE]<'              | true  | false",
        "'data: [DONE]'               | true  | false",
        "'data:[DONE]'                | true  | false",
        "'data: [DONE'                | false | false",
        "'data: [DONE]]'              | false | false",
        "'data: [DONE]]//'            | false | false",
        "'data: [DONE] //'            | false | false",
        "'data:  [DONE]//'            | false | false",
        "'data : [DONE]//'            | false | false",
        "'data: [done]//'             | false | false",
        "' data: [DONE]//'            | false | false",
        "':data: [DONE]//'            | false | false",
        "'xdata: [DONE]//'            | false | false",
        "'data: xdata: [DONE]//'      | false | false",
        "'[DONE]//'                   | false | false",
        "'event: [DONE]//'            | false | false",
        "'event: message_stop//'      | false | false",
        "'data: {}//data: [DONE]//'   | true  | true",
        "'data: [DONE]//data: {'      | true  | true",
        "'id: 7/data: [DONE]/x: y/'   | true  | false",
        "'//'                         | false | false",
        "''                           | false | false",
      })
  void chatCompletionsEndWithDone(String stream, boolean mayEnd, boolean terminated) {
    assertEnds(Terminator.DONE, stream, mayEnd, terminated);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'event: message_stop/data: {}//'            | true  | true",
        "'event:message_stop/data: {}//'             | true  | true",
        "'event: message_stop</data: {}</</'         | true  | true",
        "'data: {}/event: message_stop//'            | true  | true",
        "'event: message_stop/data: {}/'             | true  | false",
        "'event: message_stop/data: {'               | true  | false",
        "'event: message_stop'                       | true  | false",
        "'event: message_sto'                        | false | false",
        "'event: message_stopped/data: {}//'         | false | false",
        "'event: message_delta/data: message_stop//' | false | false",
        "'data: event: message_stop//'               | false | false",
        "'data: message_stop//'                      | false | false",
        "'data: [DONE]//'                            | false | false",
      })
  void messagesEndWithMessageStop(String stream, boolean mayEnd, boolean terminated) {
    assertEnds(Terminator.MESSAGE_STOP, stream, mayEnd, terminated);
  }

  @ParameterizedTest
  @CsvSource({"''", "data: x", "data: [DONE]//", "event: message_stop//"})
  void otherOperationsMayEndAnywhere(String stream) {
    assertEnds(Terminator.NONE, stream, true, false);
  }

  @Test
  void anyStreamCutAnywhereIsToldFromOneThatIsNotWhole() {
    String[] parts = {
      "\n", "\r", "\r\n", "\n\n", "data: [DONE]", "data:[DONE]", "data: ", "[DONE]", "data: {}", ":"
    };
    Random random = new Random(20260301);
    int whole = 0;
    for (int round = 0; round < FUZZ_ROUNDS; round++) {
      StringBuilder built = new StringBuilder();
      for (int i = random.nextInt(8); i > 0; i--) {
        built.append(parts[random.nextInt(parts.length)]);
      }
      String stream = built.toString();
      List<Integer> cuts = new ArrayList<>();
      for (int i = random.nextInt(10); i > 0; i--) {
        cuts.add(random.nextInt(stream.length() + 1));
      }
      cuts.sort(null);
      EventScanner scanner = scan(Terminator.DONE, stream, cuts);
      assertThat(scanner.mayEnd()).as("%s cut at %s", stream, cuts).isEqualTo(mayEnd(stream));
      assertThat(scanner.isTerminated())
          .as("%s cut at %s", stream, cuts)
          .isEqualTo(isTerminated(stream));
      whole += scanner.isTerminated() ? 1 : 0;
    }
    assertThat(whole).isBetween(FUZZ_ROUNDS / 20, FUZZ_ROUNDS / 2);
  }

  /** Line by line, as the standard says it. */
  private static boolean mayEnd(String stream) {
    for (String line : stream.split("\r\n|\r|\n", -1)) {
      if (line.equals("data: [DONE]") || line.equals("data:[DONE]")) {
        return true;
      }
    }
    return false;
  }

  private static boolean isTerminated(String stream) {
    boolean seen = false;
    String[] lines = stream.split("\r\n|\r|\n", -1);
    for (int i = 0; i < lines.length - 1; i++) { // what stands behind the last line end is no line
      if (lines[i].isEmpty() && seen) {
        return true;
      }
      seen |= lines[i].equals("data: [DONE]") || lines[i].equals("data:[DONE]");
    }
    return false;
  }

  private static void assertEnds(
      Terminator terminator, String text, boolean mayEnd, boolean terminated) {
    String stream = text.replace('/', '\n').replace('<', '\r');
    for (int first = 0; first <= stream.length(); first++) {
      for (int second = first; second <= stream.length(); second++) {
        EventScanner scanner = scan(terminator, stream, List.of(first, second));
        assertThat(scanner.mayEnd()).as("cut at %d, %d", first, second).isEqualTo(mayEnd);
        assertThat(scanner.isTerminated()).as("cut at %d, %d", first, second).isEqualTo(terminated);
      }
    }
  }

  private static EventScanner scan(Terminator terminator, String stream, List<Integer> cuts) {
    EventScanner scanner = new EventScanner(terminator);
    ByteBuf in = Bytes.of(stream);
    int from = 0;
    for (int i = 0; i <= cuts.size(); i++) {
      int to = i < cuts.size() ? cuts.get(i) : stream.length();
      scanner.scan(in, from, to - from);
      from = to;
    }
    in.release();
    return scanner;
  }
}
