package dev.sluice.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nesting, numbers, names and sizes: past a bound a request is refused, at once. */
class RequestBoundsTest {
  private static final String MESSAGES = "'model':'m','messages':[{'role':'user','content':'x'}]";

  @ParameterizedTest
  @ValueSource(strings = {"[|]", "{'a':|}"})
  void nestingIsBoundedInFieldsThatNobodyDefined(String level) {
    accepted(nested(level, JsonScanner.MAX_DEPTH - 1));
    refused(nested(level, JsonScanner.MAX_DEPTH), "nested too deep");
    refused(nested(level, 1_000_000), "nested too deep");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{'a':", "[{'a':"})
  void aNestThatIsNeverClosedIsRefused(String open) {
    String body = "{" + MESSAGES + ",'x':" + open.repeat(1_000_000);
    refused(body, "nested too deep");
    refused(open.repeat(1_000_000), "");
  }

  @Test
  void nestingIsBoundedInsideMessagesAndParts() {
    String deep = "[".repeat(100_000) + "]".repeat(100_000);
    refused(Bodies.messages("{'role':'user','x':" + deep + ",'content':'x'}"), "nested too deep");
    refused(Bodies.parts("{'type':'x','x':" + deep + "}"), "nested too deep");
    refused(Bodies.parts("{'type':'tool_result','content':" + deep + "}"), "nested too deep");
    refused("{'model':" + deep + "}", "model: array");
  }

  @Test
  void siblingsDoNotCountAsNesting() {
    accepted("{" + MESSAGES + ",'x':[" + "[{}],".repeat(10_000) + "[]]}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"|", "-|", "0.|", "1e|", "1.5E-|"})
  void numbersAreBounded(String form) {
    int around = form.length() - 1;
    accepted(withNumber(form, JsonScanner.MAX_NUMBER_BYTES - around));
    refused(withNumber(form, JsonScanner.MAX_NUMBER_BYTES - around + 1), "body: a number too long");
    refused(withNumber(form, 1_000_000), "body: a number too long");
  }

  @Test
  void namesAreBoundedEverywhere() {
    for (String form :
        new String[] {
          "{" + MESSAGES + ",'|':1}",
          "{" + MESSAGES + ",'x':{'|':1}}",
          Bodies.messages("{'role':'user','content':'x','|':1}"),
          Bodies.parts("{'type':'x','|':1}")
        }) {
      accepted(form.replace("|", "n".repeat(JsonScanner.MAX_NAME_BYTES)));
      refused(form.replace("|", "n".repeat(JsonScanner.MAX_NAME_BYTES + 1)), "body: a name of ");
      refused(form.replace("|", "n".repeat(10_000_000)), "body: a name of ");
    }
  }

  @Test
  void stringsAreBoundedByTheBodyAlone() {
    String text = "x".repeat(30_000_000);
    accepted(Bodies.messages("{'role':'user','content':'" + text + "'}"));
    accepted("{" + MESSAGES + ",'x':'" + text + "'}");
    accepted(Bodies.messages("{'role':'" + text + "','content':'x'}"));
    accepted(Bodies.parts("{'type':'" + text + "'}"));
    refused(
        Bodies.parts("{'type':'image_url','image_url':{'url':'" + text + "'}}"),
        "messages[0].content[0].image_url.url: not a base64 data URL");
  }

  @Test
  void aModelLongerThanAnyIdIsCut() {
    RequestFacts facts =
        Bodies.accepted(
            "{'model':'" + "m".repeat(3_000_000) + "','messages':[{'role':'a','content':''}]}",
            Operation.CHAT_COMPLETIONS);
    assertThat(facts.model()).hasSize(1_024);
    assertThat(facts.modelEnd() - facts.modelStart()).isEqualTo(3_000_002);
  }

  @Test
  void partsInPartsAreBounded() {
    accepted(Bodies.parts(toolResults(3, "{'type':'text','text':'x'}")));
    refused(
        Bodies.parts(toolResults(4, "{'type':'text','text':'x'}")),
        "messages[0].content[0].content[0].content[0].content[0].content: parts nested too deep");
    refused(Bodies.parts(toolResults(100, "{'type':'text','text':'x'}")), "messages[0]");
  }

  @Test
  void manyMessagesPartsAndKeysTakeNoLongerThanTheirBytes() {
    accepted(
        Bodies.messages(
            "{'role':'user','content':''},".repeat(500_000) + "{'role':'a','content':''}"));
    accepted(Bodies.parts("{'type':'text','text':''},".repeat(500_000) + "{'type':''}"));
    accepted("{" + "'':0,".repeat(3_000_000) + MESSAGES + "}");
    accepted("{" + " ".repeat(20_000_000) + MESSAGES + "}");
    accepted(Bodies.parts("{'type':'x'" + ",'source':[]".repeat(1_000_000) + "}"));
  }

  @Test
  void nothingLongFromARequestIsQuoted() {
    String junk = "\u00e9".repeat(100_000);
    for (String body :
        new String[] {
          Bodies.parts("{'type':'image','source':{'type':'" + junk + "'}}"),
          Bodies.parts("{'type':'image','source':{'type':'base64','media_type':'" + junk + "'}}"),
          Bodies.parts("{'type':'image_url','image_url':{'url':'" + junk + "'}}"),
          Bodies.parts("{'type':'image_url','image_url':{'url':'http://" + junk + "'}}"),
          "{'" + junk + "':1,'" + junk + "' 1}",
          "{'a':" + junk + "}"
        }) {
      assertThat(Bodies.failure(Bodies.bytes(body), Operation.MESSAGES).message())
          .hasSizeLessThan(250);
    }
  }

  private static String nested(String level, int depth) {
    String[] halves = level.split("\\|", -1);
    return "{" + MESSAGES + ",'x':" + halves[0].repeat(depth) + "1" + halves[1].repeat(depth) + "}";
  }

  private static String withNumber(String form, int digits) {
    return "{" + MESSAGES + ",'x':" + form.replace("|", "1".repeat(digits)) + "}";
  }

  private static String toolResults(int levels, String part) {
    return "{'type':'tool_result','content':[".repeat(levels) + part + "]}".repeat(levels);
  }

  private static void accepted(String body) {
    quickly(() -> Bodies.accepted(body, Operation.CHAT_COMPLETIONS));
  }

  private static void refused(String body, String message) {
    quickly(
        () -> {
          Failure failure = Bodies.failure(Bodies.bytes(body), Operation.CHAT_COMPLETIONS);
          assertThat(failure.reason())
              .isIn(Reason.JSON_MALFORMED, Reason.REQUEST_SHAPE, Reason.IMAGE);
          assertThat(failure.message()).contains(message);
        });
  }

  /** In time of this thread alone, whatever else the machine does. */
  private static void quickly(Runnable inspection) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long begunNanos = threads.getCurrentThreadCpuTime();
    inspection.run();
    assertThat(Duration.ofNanos(threads.getCurrentThreadCpuTime() - begunNanos))
        .isLessThan(Duration.ofSeconds(5));
  }
}
