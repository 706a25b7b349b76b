package dev.sluice.message;

import dev.sluice.error.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts of a message's content. */
class RequestPartsTest {

  @ParameterizedTest
  @ValueSource(strings = {"null", "'text'", "1", "true", "[]", "[{'type':'text','text':'x'}]"})
  void aPartIsAnObject(String part) {
    Bodies.refused(Bodies.parts(part), Reason.REQUEST_SHAPE, "messages[0].content[0]: ");
    Bodies.refused(
        Bodies.parts("{'type':'text','text':'x'}", part),
        Reason.REQUEST_SHAPE,
        "messages[0].content[1]: ");
  }

  @Test
  void aPartHasATypeThatIsAString() {
    Bodies.refused(
        Bodies.parts("{'text':'x'}"), Reason.REQUEST_SHAPE, "messages[0].content[0].type: missing");
    Bodies.refused(
        Bodies.parts("{}"), Reason.REQUEST_SHAPE, "messages[0].content[0].type: missing");
    for (String type : new String[] {"null", "1", "true", "{}", "[]", "['text']"}) {
      Bodies.refused(
          Bodies.parts("{'type':" + type + ",'text':'x'}"),
          Reason.REQUEST_SHAPE,
          "messages[0].content[0].type: ");
    }
  }

  @Test
  void aTextPartHasATextThatIsAString() {
    Bodies.accepted(Bodies.parts("{'type':'text','text':''}"));
    Bodies.accepted(Bodies.parts("{'text':'x','type':'text','cache_control':{}}"));
    Bodies.refused(
        Bodies.parts("{'type':'text'}"), Reason.REQUEST_SHAPE, "messages[0].content[0].text: miss");
    for (String text : new String[] {"null", "1", "true", "{}", "[]"}) {
      for (String part :
          new String[] {"{'type':'text','text':|}", "{'text':|,'type':'te\\u0078t'}"}) {
        Bodies.refused(
            Bodies.parts(part.replace("|", text)),
            Reason.REQUEST_SHAPE,
            "messages[0].content[0].text: ");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'input_audio','input_audio':{'data':'x','format':'wav'}}",
        "{'type':'file','file':{'file_id':'f'}}",
        "{'type':'refusal','refusal':'no'}",
        "{'type':'thinking','thinking':'…','signature':'x'}",
        "{'type':'tool_use','id':'t','name':'f','input':{'content':1,'source':2}}",
        "{'type':'document','source':{'type':'url','url':'https://x/y.pdf'}}",
        "{'type':'document','source':{'type':'base64','media_type':'application/pdf','data':'?'}}",
        "{'type':'document'}",
        "{'type':'document','source':null}",
        "{'type':'document','source':{'type':'content','content':'text'}}",
        "{'type':'tool_result','tool_use_id':'t'}",
        "{'type':'tool_result','tool_use_id':'t','content':'text'}",
        "{'type':'tool_result','tool_use_id':'t','content':[]}",
        "{'type':'search_result','source':'https://x','title':'t','content':[1]}",
        "{'type':'','text':1,'image_url':1,'source':1,'content':1}",
        "{'type':'TEXT','text':1,'text':2}",
        "{'type':'Image_URL','image_url':'http://x'}"
      })
  void partsOfAnotherTypePassUnchecked(String part) {
    Bodies.accepted(Bodies.parts(part));
    Bodies.accepted(Bodies.parts("{'type':'text','text':'x'}", part, part));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'text','type':'text','text':'x'}",
        "{'type':'text','text':'x','typ\\u0065':'image_url'}",
        "{'type':'unknown','type':'unknown'}",
        "{'type':'text','text':'x','text':'x'}",
        "{'text':1,'text':'x','type':'text'}",
        "{'type':'tool_result','content':'x','content':'y'}"
      })
  void aKeyThatDecidesAndStandsTwiceIsRefused(String part) {
    Bodies.refused(Bodies.parts(part), Reason.REQUEST_SHAPE, "messages[0].content[0].");
  }

  @Test
  void aKeyThatDecidesNothingMayStandTwice() {
    Bodies.accepted(Bodies.parts("{'type':'text','text':'x','source':1,'source':2,'x':1,'x':2}"));
  }

  @Test
  void partsInAToolResultAreHeldToTheSameRules() {
    String part = "{'type':'tool_result','tool_use_id':'t','content':[|]}";
    Bodies.accepted(Bodies.parts(part.replace("|", "{'type':'text','text':'x'}")));
    Bodies.refused(
        Bodies.parts(part.replace("|", "{'type':'text','text':'x'},{'type':'text'}")),
        Reason.REQUEST_SHAPE,
        "messages[0].content[0].content[1].text: missing");
    Bodies.refused(
        Bodies.parts("{'content':[1],'type':'tool_result'}"),
        Reason.REQUEST_SHAPE,
        "messages[0].content[0].content[0]: number");
  }

  @Test
  void partsInADocumentAreHeldToTheSameRules() {
    String part = "{'type':'document','source':{'content':[|],'type':'content'}}";
    Bodies.accepted(Bodies.parts(part.replace("|", "{'type':'text','text':'x'}")));
    Bodies.refused(
        Bodies.parts(part.replace("|", "{'type':'text'}")),
        Reason.REQUEST_SHAPE,
        "messages[0].content[0].source.content[0].text: missing");
  }

  @Test
  void thePassGoesOnAfterAPartThatWasLookedAtAgain() {
    String early = "{'text':'x','type':'text'}";
    Bodies.refused(
        Bodies.messages(
            "{'role':'user','content':[" + early + "," + early + "]}",
            "{'content':[" + early + ",{'type':'text','text':0}],'role':'user'}"),
        Reason.REQUEST_SHAPE,
        "messages[1].content[1].text: number (expected: string)");
    Bodies.refused(Bodies.parts(early) + "x", Reason.JSON_MALFORMED, "body: \"x\" at byte ");
  }
}
