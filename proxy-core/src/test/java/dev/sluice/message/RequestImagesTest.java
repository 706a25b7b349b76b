package dev.sluice.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Images are base64 data URLs, or the same two facts apart; nothing else. */
class RequestImagesTest {
  private static final String URL_PATH = "messages[0].content[0].image_url.url: ";
  private static final String SOURCE_PATH = "messages[0].content[0].source.";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data:image/png;base64,AAAA",
        "DATA:IMAGE/PNG;BASE64,AAAA",
        "Data:Image/Jpeg;Base64,/9j/",
        "data:image/svg+xml;base64,AAAA",
        "data:image/vnd.x-y_z;base64,AAAA",
        "data:image/png;charset=utf-8;base64,AAAA",
        "data:image/png;a=;b=%2C;name=x.png;base64,AAAA",
        "data:image/png;base64=no;base64,AAAA",
        "data:image/png;base64,AA==",
        "data:image/png;base64,AAA=",
        "data:image/png;base64,AAAAAA==",
        "data:image/png;base64,/+9zZ0aA",
        "data:image/png;base64,AB==",
        "data:image/png;base64,AAB=",
        "data:image\\/png;base64,\\/9j\\/",
        "\\u0064ata\\u003aimage\\u002fpng\\u003Bbase64\\u002c\\u0041A\\u003d\\u003D",
        "data:image/png;base64,AAAA\\u002b\\u002F\\/="
      })
  void aBase64DataUrlIsAccepted(String url) {
    Bodies.accepted(imageUrl(url));
    Bodies.accepted(source("'type':'url','url':'" + url + "'"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "data:",
        "data:,",
        "AAAA",
        "http://example.com/a.png",
        "https://example.com/a.png",
        "HTTPS://example.com/a.png",
        "https:\\/\\/example.com\\/a.png",
        "\\u0068ttps://example.com/data:image/png;base64,AAAA",
        "https://example.com/,data:image/png;base64,AAAA",
        "ftp://example.com/a.png",
        "file:///etc/passwd",
        " data:image/png;base64,AAAA",
        "data: image/png;base64,AAAA",
        "data:image/png;base64, AAAA",
        "data:image/png;base64",
        "data:image/png;base64,",
        "data:image/png;base64,=",
        "data:image/png;base64,==",
        "data:image/png;base64,====",
        "data:image/png,AAAA",
        "data:image/png;base64;charset=utf-8,AAAA",
        "data:image/png; base64,AAAA",
        "data:image/png;charset=utf-8,AAAA",
        "data:image/png;x;base64,AAAA",
        "data:image/png;base32,AAAA",
        "data:image/png;base64x,AAAA",
        "data:image/;base64,AAAA",
        "data:image;base64,AAAA",
        "data:image/png/x;base64,AAAA",
        "data:image/*;base64,AAAA",
        "data:;base64,AAAA",
        "data:base64,AAAA",
        "data:text/html;base64,AAAA",
        "data:application/pdf;base64,AAAA",
        "data:ximage/png;base64,AAAA",
        "xdata:image/png;base64,AAAA",
        "data:\u0131mage/png;base64,AAAA",
        "data:image/png;base64,A",
        "data:image/png;base64,AA",
        "data:image/png;base64,AAA",
        "data:image/png;base64,AAAAA",
        "data:image/png;base64,A===",
        "data:image/png;base64,AA=",
        "data:image/png;base64,AAA==",
        "data:image/png;base64,AAAA=",
        "data:image/png;base64,AAAA==",
        "data:image/png;base64,AAAA====",
        "data:image/png;base64,AA==AAAA",
        "data:image/png;base64,AA=A",
        "data:image/png;base64,=AAA",
        "data:image/png;base64,AAAAAAA-",
        "data:image/png;base64,AAAAAAA_",
        "data:image/png;base64,AAAA AAAA",
        "data:image/png;base64,AAAA\\nAAAA",
        "data:image/png;base64,AAAA\\r\\n",
        "data:image/png;base64,AAAA\\u0000AAA",
        "data:image/png;base64,AAA\\u0141",
        "data:image/png;base64,AAA\\\\",
        "data:image/png;base64,AAA\\'",
        "data:image/png;base64,AA%3D%3D",
        "data:image/png;base64,AAA\u00e9",
        "data:image/png;base64,AAAAAAAAAAAAAA\ud83d\ude00",
        "data:image/png;base64,AAA.",
        "data:image/png;base64,AAA:",
        "data:image/png;base64,AAA@",
        "data:image/png;base64,AAA[",
        "data:image/png;base64,AAA`",
        "data:image/png;base64,AAA{",
        "data:image/png;base64,AAA*",
        "data:image/png;base64,AAA,"
      })
  void anythingElseIsNoImage(String url) {
    Bodies.refused(imageUrl(url), Reason.IMAGE, URL_PATH);
    Bodies.refused(source("'type':'url','url':'" + url + "'"), Reason.IMAGE, SOURCE_PATH + "url: ");
    Bodies.refused(source("'url':'" + url + "','type':'url'"), Reason.IMAGE, SOURCE_PATH + "url: ");
  }

  @Test
  void everyByteIsInTheAlphabetOrNotAtEveryPlace() {
    String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (char c = ' '; c < 0x7f; c++) {
      if (c == '\'' || c == '"' || c == '\\') {
        continue;
      }
      for (int place = 0; place < 20; place++) {
        String data = "A".repeat(place) + c + "A".repeat(19 - place);
        String body = imageUrl("data:image/png;base64," + data);
        if (alphabet.indexOf(c) >= 0 || (c == '=' && place == 19)) {
          Bodies.accepted(body);
        } else {
          Bodies.refused(body, Reason.IMAGE, URL_PATH);
        }
      }
    }
  }

  @Test
  void everyEncodingOfAnEncoderIsAcceptedAndNoneWithoutItsPadding() {
    Random random = new Random(20_260_101);
    for (int length = 1; length < 200; length++) {
      byte[] image = new byte[length];
      random.nextBytes(image);
      String data = Base64.getEncoder().encodeToString(image);
      Bodies.accepted(imageUrl("data:image/png;base64," + data));
      Bodies.accepted(imageUrl("data:image/png;base64," + data.replace("/", "\\/")));
      Bodies.accepted(source("'type':'base64','media_type':'image/png','data':'" + data + "'"));
      String bare = Base64.getEncoder().withoutPadding().encodeToString(image);
      if (!bare.equals(data)) {
        Bodies.refused(imageUrl("data:image/png;base64," + bare), Reason.IMAGE, URL_PATH);
      }
    }
  }

  @Test
  void aLargeImageWithTheSlashesOfPhpIsAccepted() {
    byte[] image = new byte[3 << 20];
    new Random(7).nextBytes(image);
    String data = Base64.getEncoder().encodeToString(image).replace("/", "\\/");
    Bodies.accepted(imageUrl("data:image\\/png;base64," + data));
    Bodies.refused(
        imageUrl("data:image\\/png;base64," + data.substring(0, data.length() - 5) + "-AAAA"),
        Reason.IMAGE,
        URL_PATH);
  }

  @Test
  void theHeaderOfADataUrlIsBounded() {
    String header = "data:image/png;a=|;base64";
    int most = 256 - header.length() + 1;
    Bodies.accepted(imageUrl(header.replace("|", "x".repeat(most)) + ",AAAA"));
    Bodies.refused(
        imageUrl(header.replace("|", "x".repeat(most + 1)) + ",AAAA"), Reason.IMAGE, URL_PATH);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "1",
        "true",
        "[]",
        "''",
        "'data:image/png;base64,AAAA'",
        "{}",
        "{'detail':'low'}",
        "{'url':null}",
        "{'url':1}",
        "{'url':{}}",
        "{'url':['data:image/png;base64,AAAA']}",
        "{'URL':'data:image/png;base64,AAAA'}"
      })
  void anImageUrlIsAnObjectWithAUrl(String value) {
    Bodies.refused(
        Bodies.parts("{'type':'image_url','image_url':" + value + "}"),
        Reason.IMAGE,
        "messages[0].content[0].image_url");
  }

  @Test
  void anImagePartWithoutItsImageIsRefused() {
    Bodies.refused(
        Bodies.parts("{'type':'image_url'}"),
        Reason.IMAGE,
        "messages[0].content[0].image_url: missing");
    Bodies.refused(
        Bodies.parts("{'type':'image'}"), Reason.IMAGE, "messages[0].content[0].source: missing");
    for (String value : new String[] {"null", "1", "[]", "'data:image/png;base64,AAAA'"}) {
      Bodies.refused(
          Bodies.parts("{'type':'image','source':" + value + "}"),
          Reason.IMAGE,
          "messages[0].content[0].source: ");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'type':'base64','media_type':'image/png','data':'AAAA'",
        "'data':'AA==','media_type':'IMAGE/Webp','type':'b\\u0061se64'",
        "'type':'base64','media_type':'image\\/svg+xml;charset=utf-8','data':'\\/9j\\/'",
        "'type':'base64','media_type':'image/png','data':'AAAA','url':'http://x','x':[]",
        "'type':'url','url':'data:image/png;base64,AAAA','data':1,'media_type':2"
      })
  void aSourceIsTheSameTwoFactsApart(String fields) {
    Bodies.accepted(source(fields));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "'media_type':'image/png','data':'AAAA'",
        "'type':null,'media_type':'image/png','data':'AAAA'",
        "'type':1",
        "'type':'BASE64','media_type':'image/png','data':'AAAA'",
        "'type':'file','file_id':'f'",
        "'type':''",
        "'type':'base64','data':'AAAA'",
        "'type':'base64','media_type':'image/png'",
        "'type':'base64','media_type':null,'data':'AAAA'",
        "'type':'base64','media_type':'','data':'AAAA'",
        "'type':'base64','media_type':'image/','data':'AAAA'",
        "'type':'base64','media_type':'application/pdf','data':'AAAA'",
        "'type':'base64','media_type':'image/png;base64','data':'AAAA'",
        "'type':'base64','media_type':'data:image/png','data':'AAAA'",
        "'type':'base64','media_type':'image/png','data':''",
        "'type':'base64','media_type':'image/png','data':null",
        "'type':'base64','media_type':'image/png','data':['AAAA']",
        "'type':'base64','media_type':'image/png','data':'AAA'",
        "'type':'base64','media_type':'image/png','data':'AA-_'",
        "'type':'base64','media_type':'image/png','data':'data:image/png;base64,AAAA'",
        "'type':'url'",
        "'type':'url','url':null",
        "'type':'url','data':'AAAA','media_type':'image/png'"
      })
  void aSourceThatBreaksARuleIsRefused(String fields) {
    Bodies.refused(source(fields), Reason.IMAGE, SOURCE_PATH);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'image_url','image_url':{'url':'GOOD','url':'http://x'}}",
        "{'type':'image_url','image_url':{'url':'http://x','url':'GOOD'}}",
        "{'type':'image_url','image_url':{'url':'GOOD','ur\\u006c':'GOOD'}}",
        "{'type':'image_url','image_url':{'url':'GOOD'},'image_url':{'url':'http://x'}}",
        "{'image_url':{'url':'http://x'},'image_url':{'url':'GOOD'},'type':'image_url'}",
        "{'type':'text','text':'x','image_url':{'url':'http://x'},'type':'image_url'}",
        "{'type':'image','source':{'type':'url','url':'GOOD','url':'http://x'}}",
        "{'type':'image','source':{'type':'url','type':'base64','url':'http://x'}}",
        "{'type':'image','source':{'type':'url','url':'GOOD'},'source':{}}",
        "{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AAAA','data':''}}",
        "{'type':'image','source':{'type':'base64','media_type':'image/png',"
            + "'media_type':'text/html','data':'AAAA'}}"
      })
  void twoValuesOfWhichOneIsCheckedAreRefused(String part) {
    String body = Bodies.parts(part.replace("GOOD", "data:image/png;base64,AAAA"));
    Bodies.refused(body, Reason.REQUEST_SHAPE, "messages[0].content[0].");
    assertThat(Bodies.failure(Bodies.bytes(body), Operation.MESSAGES).message())
        .contains(": stands twice (expected: once)");
  }

  @Test
  void keysHaveNoOrder() {
    Bodies.accepted(
        Bodies.parts(
            "{'image_url':{'detail':'low','url':'data:image/png;base64,AAAA'},"
                + "'cache_control':{},'type':'image_url'}"));
    Bodies.refused(
        Bodies.parts("{'image_url':{'url':'https://x/y.png'},'type':'image_url'}"),
        Reason.IMAGE,
        URL_PATH + "not a base64 data URL");
    Bodies.refused(
        Bodies.parts(
            "{'source':{'data':'?','media_type':'image/png','type':'base64'}," + "'type':'image'}"),
        Reason.IMAGE,
        SOURCE_PATH + "data: not base64");
  }

  @Test
  void imagesInsideAToolResultOrADocumentAreImages() {
    String image = "{'type':'image','source':{'type':'|','url':'https://x/y.png'}}";
    Bodies.refused(
        Bodies.parts("{'type':'tool_result','content':[" + image.replace("|", "url") + "]}"),
        Reason.IMAGE,
        "messages[0].content[0].content[0].source.url: not a base64 data URL");
    Bodies.refused(
        Bodies.parts(
            "{'type':'document','source':{'type':'content','content':["
                + image.replace("|", "file")
                + "]}}"),
        Reason.IMAGE,
        "messages[0].content[0].source.content[0].source.type: ");
    Bodies.refused(
        Bodies.parts(
            "{'content':[{'source':{'content':["
                + image.replace("|", "url")
                + "],'type':'content'},'type':'document'}],'type':'tool_result'}"),
        Reason.IMAGE,
        "messages[0].content[0].content[0].source.content[0].source.url: ");
  }

  @Test
  void theRefusalNamesThePathAndSaysWhatToDo() {
    Bodies.refused(
        Bodies.messages(
            "{'role':'user','content':'x'}",
            "{'role':'assistant','content':'x'}",
            "{'role':'user','content':[{'type':'text','text':'x'},"
                + "{'type':'image_url','image_url':{'url':'https://x/y.png'}}]}"),
        Reason.IMAGE,
        "messages[2].content[1].image_url.url: not a base64 data URL, but a link, which is not"
            + " fetched (expected: data:image/<subtype>;base64,<data>, the image itself)");
    for (String link : new String[] {"http://x", "HTTPS://x/,y", "http\\u003a\\/\\/x"}) {
      Bodies.refused(imageUrl(link), Reason.IMAGE, URL_PATH + "not a base64 data URL, but a link");
    }
    Bodies.refused(
        imageUrl("data:image/png;base64,AAAA-AAA"),
        Reason.IMAGE,
        URL_PATH + "not base64 at character 4 of the data (expected: A-Z, a-z, 0-9,");
    Bodies.refused(
        imageUrl("data:image/png;base64,AAA"),
        Reason.IMAGE,
        URL_PATH + "not base64: 3 characters and 0 of padding (expected: a multiple of 4");
    Bodies.refused(imageUrl("data:image/png;base64,"), Reason.IMAGE, URL_PATH + "no image data");
  }

  private static String imageUrl(String url) {
    return Bodies.parts("{'type':'image_url','image_url':{'url':'" + url + "'}}");
  }

  private static String source(String fields) {
    return Bodies.parts("{'type':'image','source':{" + fields + "}}");
  }
}
