package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Errors.assertErrorEvent;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.assertOpen;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Named.named;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Recorded;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import dev.sluice.testing.Wire;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever an upstream answers, the caller gets a whole answer, or one that is visibly broken. */
class UpstreamAnswersIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String JSON_HEAD = Script.head(200, "application/json");
  private static final String STREAM_TYPE = Script.head(200, "text/event-stream");
  private static final String EVENT = "data: {\"n\":1}\n\n";
  private static final String SECOND = "event: x\r\ndata: 2\r\n\r\n: comment\n\n";

  private static Named<Script> script(String name, Script script) {
    return named(name, script);
  }

  // Good answers.

  static Stream<Named<Script>> goodJson() {
    return Stream.of(
        script("with a length", Script.json("{\"ok\":true}")),
        script(
            "in chunks",
            Script.raw(
                JSON_HEAD
                    + "Transfer-Encoding: chunked\r\n\r\n"
                    + Script.chunks("{\"ok\"", ":true", "}")
                    + "0\r\n\r\n")),
        script(
            "in chunks with an extension and trailers",
            Script.raw(
                JSON_HEAD
                    + "Transfer-Encoding: chunked\r\n\r\n"
                    + "b;x=y\r\n{\"ok\":true}\r\n0;z\r\nX-Trailer: 1\r\n\r\n")),
        script("until the close", Script.raw(JSON_HEAD + "\r\n{\"ok\":true}").thenClose()),
        script(
            "of HTTP/1.0",
            Script.raw(JSON_HEAD.replace("HTTP/1.1", "HTTP/1.0") + "\r\n{\"ok\":true}")
                .thenClose()),
        script(
            "with Connection: close",
            Script.json("{\"ok\":true}", "Connection: close").thenClose()),
        script(
            "byte by byte", Script.trickle(JSON_HEAD + "Content-Length: 11\r\n\r\n{\"ok\":true}")),
        script(
            "after 100 and 103",
            Script.raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n")
                .then(Script.json("{\"ok\":true}"))),
        script(
            "with a type in upper case and a parameter",
            Script.raw(
                Script.head(200, "Application/JSON; charset=utf-8")
                    + "Content-Length: 11\r\n\r\n{\"ok\":true}")),
        script("with status 201", Script.json(201, "{\"ok\":true}")));
  }

  @ParameterizedTest(name = "JSON {0}")
  @MethodSource("goodJson")
  void anAnswerInAnyGoodFramingIsPassedOn(Script script) {
    SCENE.upstream.answers(script);
    try (RawClient client = SCENE.client()) {
      Answer answer = client.exchange(chat("small"));
      assertThat(answer.status()).isIn(200, 201);
      assertThat(answer.text()).isEqualTo("{\"ok\":true}");
      assertThat(answer.ending()).isEqualTo(Ending.WHOLE);
      assertThat(answer.headers("x-trailer")).isEmpty();
      assertOpen(client);
      assertThat(client.exchange(chat("small")).status()).isEqualTo(200);
    }
  }

  /** Ways to send a stream, given the event that ends it. */
  static Stream<Named<Function<String, Script>>> goodStreams() {
    return Stream.of(
        goodStream("an event a chunk", end -> Script.stream(EVENT, SECOND, end)),
        goodStream("in one chunk", end -> Script.stream(EVENT + SECOND + end)),
        goodStream(
            "a byte a chunk", end -> Script.stream((EVENT + SECOND + end).split("(?<=[\\s\\S])"))),
        goodStream(
            "with a length",
            end -> {
              String whole = EVENT + SECOND + end;
              return Script.raw(
                  STREAM_TYPE + "Content-Length: " + whole.length() + "\r\n\r\n" + whole);
            }),
        goodStream(
            "until the close",
            end -> Script.raw(STREAM_TYPE + "\r\n" + EVENT + SECOND + end).thenClose()),
        goodStream(
            "of HTTP/1.0",
            end ->
                Script.raw(
                        STREAM_TYPE.replace("HTTP/1.1", "HTTP/1.0") + "\r\n" + EVENT + SECOND + end)
                    .thenClose()),
        goodStream(
            "byte by byte",
            end ->
                Script.trickle(
                    Script.streamHead() + Script.chunks(EVENT, SECOND, end) + "0\r\n\r\n")),
        goodStream(
            "with extensions and trailers",
            end ->
                Script.raw(
                    Script.streamHead()
                        + Integer.toHexString((EVENT + SECOND + end).length())
                        + ";a=\"b\"\r\n"
                        + EVENT
                        + SECOND
                        + end
                        + "\r\n0\r\nX-Trailer: 1\r\n\r\n")),
        goodStream(
            "with leading zeros in the size",
            end ->
                Script.raw(
                    Script.streamHead()
                        + "000"
                        + Integer.toHexString((EVENT + SECOND + end).length())
                            .toUpperCase(Locale.ROOT)
                        + "\r\n"
                        + EVENT
                        + SECOND
                        + end
                        + "\r\n0000\r\n\r\n")),
        goodStream(
            "after 100 and 103",
            end ->
                Script.raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n")
                    .then(Script.stream(EVENT + SECOND + end))));
  }

  private static Named<Function<String, Script>> goodStream(
      String name, Function<String, Script> script) {
    return named(name, script);
  }

  @ParameterizedTest(name = "a stream {0}")
  @MethodSource("goodStreams")
  void aStreamInAnyGoodFramingIsRelayedByteForByte(Function<String, Script> script) {
    for (String path : List.of(CHAT, MESSAGES)) {
      String end = path.equals(CHAT) ? Script.DONE : Script.MESSAGE_STOP;
      SCENE.upstream.always(script.apply(end));
      try (RawClient client = SCENE.client()) {
        Answer answer = client.exchange(stream(path, "small"));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("content-type")).isEqualTo("text/event-stream");
        assertThat(answer.header("x-request-id")).startsWith("req_");
        assertThat(answer.text()).isEqualTo(EVENT + SECOND + end);
        if (answer.ending() == Ending.WHOLE) {
          assertOpen(client);
        } else {
          assertThat(answer.ending()).isEqualTo(Ending.UNTIL_CLOSE);
        }
      }
    }
  }

  @Test
  void anEventIsPassedOnAtOnce() {
    SCENE.upstream.answers(Script.raw(Script.streamHead() + Script.chunks(EVENT)).thenStall());
    try (RawClient client = SCENE.client()) {
      client.send(stream(CHAT, "small"));
      client.readHead();
      assertThat(client.readUntil(EVENT)).isEqualTo(EVENT);
    }
  }

  @Test
  void theHeadOfAStreamIsSentOnlyWithItsFirstBytes() {
    CountDownLatch firstBytes = new CountDownLatch(1);
    SCENE.upstream.answers(
        Script.raw(Script.streamHead())
            .thenAwait(firstBytes)
            .then(Script.raw(Script.chunks(EVENT, Script.DONE) + "0\r\n\r\n")));
    try (RawClient client = SCENE.client()) {
      client.send(stream(CHAT, "small"));
      SCENE.upstream.take();
      client.assertSilent(Duration.ofMillis(100));
      firstBytes.countDown();
      assertThat(client.read().text()).isEqualTo(EVENT + Script.DONE);
    }
  }

  @Test
  void theEndOfAnUpstreamsStreamFreesItsConnectionForTheNext() {
    SCENE.upstream.always(Script.stream(EVENT, Script.DONE));
    try (RawClient client = SCENE.client()) {
      client.exchange(stream(CHAT, "small"));
      client.exchange(stream(CHAT, "small"));
    }
    assertThat(SCENE.upstream.take().connection()).isEqualTo(SCENE.upstream.take().connection());
  }

  // Answers that are no answer: 502.

  static Stream<Named<Script>> invalidHttp() {
    String json = "Content-Length: 2\r\n\r\n{}";
    return Stream.of(
        script("a close before the head", Script.close()),
        script("a reset before the head", Script.reset()),
        script("a close in the head", Script.raw("HTTP/1.1 200 OK\r\nContent-").thenClose()),
        script("a reset in the head", Script.raw("HTTP/1.1 200 OK\r\nContent-").thenReset()),
        script("noise", Script.raw("\0\1\2\3noise\r\n\r\n").thenClose()),
        script("a server of SSH", Script.raw("SSH-2.0-OpenSSH_9.2\r\n\r\n").thenClose()),
        script("a bad version", Script.raw("HTTP/9.9 200 OK\r\n\r\n").thenClose()),
        script("a bad status", Script.raw("HTTP/1.1 two OK\r\n" + json)),
        script("a status of two digits", Script.raw("HTTP/1.1 20 OK\r\n" + json)),
        script("a status of four digits", Script.raw("HTTP/1.1 2000 OK\r\n" + json)),
        script("status 99", Script.raw("HTTP/1.1 099 OK\r\n" + json)),
        script("a request for an answer", Script.raw("GET / HTTP/1.1\r\nHost: a\r\n\r\n")),
        script("a header without colon", Script.raw(JSON_HEAD + "nonsense\r\n" + json)),
        script("NUL in a header", Script.raw(JSON_HEAD + "X-A: a\0b\r\n" + json)),
        script(
            "a huge head", Script.raw(JSON_HEAD + "X-A: " + "x".repeat(1 << 20) + "\r\n" + json)),
        script("two lengths", Script.raw(JSON_HEAD + "Content-Length: 3\r\n" + json)),
        script("a bad length", Script.raw(JSON_HEAD + "Content-Length: -1\r\n\r\n{}").thenClose()),
        script(
            "both framings",
            Script.raw(
                JSON_HEAD
                    + "Transfer-Encoding: chunked\r\n"
                    + "Content-Length: 2\r\n\r\n"
                    + "2\r\n{}\r\n0\r\n\r\n")),
        script(
            "coding gzip", Script.raw(JSON_HEAD + "Transfer-Encoding: gzip\r\n\r\n{}").thenClose()),
        script(
            "coding gzip, chunked",
            Script.raw(JSON_HEAD + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")),
        script(
            "a coding on HTTP/1.0",
            Script.raw(
                    JSON_HEAD.replace("HTTP/1.1", "HTTP/1.0")
                        + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
                .thenClose()),
        script(
            "101 Switching Protocols",
            Script.raw("HTTP/1.1 101 Switched\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n")
                .thenStall()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("invalidHttp")
  void whatIsNotValidHttpIs502(Script script) {
    assertBadGateway(script, chat("small"));
    assertBadGateway(script, stream(CHAT, "small"));
  }

  private static void assertBadGateway(Script script, Request request) {
    SCENE.upstream.answers();
    SCENE.upstream.closeConnections();
    SCENE.upstream.always(script);
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(request), 502);
      assertOpen(client);
    }
    SCENE.upstream.take().awaitGone();
    SCENE.upstream.answers();
  }

  @Test
  void aResetWhileTheRequestIsBeingSentIs502() {
    SCENE.upstream.always(Script.reset().beforeTheBody());
    String large = Scene.body("small", "\"user\":\"" + "x".repeat(60_000) + "\",");
    try (RawClient client = SCENE.client()) {
      for (int i = 0; i < 200; i++) {
        assertError(client.exchange(Request.post(CHAT, large).key(Scene.PRO)), 502);
      }
    }
    SCENE.upstream.answers();
  }

  static Stream<Named<Script>> invalidJson() {
    String chunked = JSON_HEAD + "Transfer-Encoding: chunked\r\n\r\n";
    return Stream.of(
        script("no body", Script.json("")),
        script("white space", Script.json(" \n")),
        script("a broken object", Script.json("{\"a\":")),
        script("two documents", Script.json("{}{}")),
        script("text", Script.json("Bad gateway, sorry")),
        script("HTML", Script.json("<html></html>")),
        script("a trailing comma", Script.json("{\"a\":1,}")),
        script("a byte order mark", Script.json("\ufeff{}")),
        script("bad UTF-8", Script.raw(JSON_HEAD + "Content-Length: 9\r\n\r\n{\"a\":\"\u00ff\"}")),
        script(
            "bytes of gzip", Script.raw(JSON_HEAD + "Content-Length: 4\r\n\r\n\u001f\u008b\b\0")),
        script(
            "a close in the body",
            Script.raw(JSON_HEAD + "Content-Length: 9\r\n\r\n{\"a\"").thenClose()),
        script(
            "a reset in the body",
            Script.raw(JSON_HEAD + "Content-Length: 9\r\n\r\n{\"a\"").thenReset()),
        script(
            "a reset where the body ends with the connection",
            Script.raw(JSON_HEAD + "\r\n{}").thenPause(Duration.ofMillis(20)).thenReset()),
        script(
            "a close after whole JSON but before the declared length",
            Script.raw(JSON_HEAD + "Content-Length: 9\r\n\r\n{}").thenClose()),
        script("a close in a chunk", Script.raw(chunked + "9\r\n{\"a\"").thenClose()),
        script("a close before the last chunk", Script.raw(chunked + "2\r\n{}\r\n").thenClose()),
        script("a close in the last chunk", Script.raw(chunked + "2\r\n{}\r\n0\r\n").thenClose()),
        script("a bad chunk size", Script.raw(chunked + "zz\r\n{}\r\n0\r\n\r\n")),
        script("a negative chunk size", Script.raw(chunked + "-2\r\n{}\r\n0\r\n\r\n")),
        script("a chunk without line end", Script.raw(chunked + "2\r\n{}0\r\n\r\n")),
        script("status 204", Script.raw("HTTP/1.1 204 No Content\r\n\r\n")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("invalidJson")
  void aBodyThatIsNotOneWholeJsonDocumentIs502(Script script) {
    SCENE.upstream.always(script);
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(chat("small")), 502);
      assertOpen(client);
    }
    SCENE.upstream.answers();
  }

  @ParameterizedTest(name = "Content-Type: {0}")
  @ValueSource(strings = {"text/html", "text/plain", "text/event-stream", "application/xml", ""})
  void anAnswerOfTheWrongTypeIs502(String type) {
    SCENE.upstream.answers(Script.raw(Script.head(200, type) + "Content-Length: 2\r\n\r\n{}"));

    assertError(SCENE.exchange(chat("small")), 502);
  }

  @Test
  void anAnswerWithoutATypeIs502() {
    SCENE.upstream.answers(Script.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));

    assertError(SCENE.exchange(chat("small")), 502);
  }

  @ParameterizedTest(name = "Content-Type: {0}")
  @ValueSource(strings = {"text/html", "text/plain", "application/json", "text/event-streams", ""})
  void aStreamOfTheWrongTypeIs502(String type) {
    SCENE.upstream.answers(
        Script.raw(
            Script.head(200, type)
                + "Transfer-Encoding: chunked\r\n\r\n"
                + Script.chunks(EVENT)
                + "0\r\n\r\n"));
    assertError(SCENE.exchange(stream(CHAT, "small")), 502);
  }

  static Stream<Named<Script>> streamsWithoutAFirstByte() {
    return Stream.of(
        script("closed after the head", Script.raw(Script.streamHead()).thenClose()),
        script("reset after the head", Script.raw(Script.streamHead()).thenReset()),
        script("closed in the first size", Script.raw(Script.streamHead() + "1").thenClose()),
        script(
            "closed after the first size", Script.raw(Script.streamHead() + "10\r\n").thenClose()),
        script("with a bad first size", Script.raw(Script.streamHead() + "zz\r\n" + EVENT)),
        script(
            "of comments alone",
            Script.raw(Script.streamHead() + Script.chunks(": hi\n\n") + "0\r\n\r\n")),
        script(
            "of comments alone that is reset",
            Script.raw(Script.streamHead() + Script.chunks(": hi\n\n")).thenReset()),
        script("that is empty in chunks", Script.raw(Script.streamHead() + "0\r\n\r\n")),
        script("that is empty by length", Script.raw(STREAM_TYPE + "Content-Length: 0\r\n\r\n")),
        script("that is empty at the close", Script.raw(STREAM_TYPE + "\r\n").thenClose()),
        script("with status 204", Script.raw("HTTP/1.1 204 No Content\r\n\r\n")));
  }

  @ParameterizedTest(name = "a stream {0}")
  @MethodSource("streamsWithoutAFirstByte")
  void aStreamThatFailsBeforeItsFirstByteIsAReal502(Script script) {
    SCENE.upstream.always(script);
    for (String path : List.of(CHAT, MESSAGES)) {
      try (RawClient client = SCENE.client()) {
        assertError(client.exchange(stream(path, "small")), 502);
        assertOpen(client);
      }
    }
  }

  @Test
  void anUpstreamThatDoesNotAnswerInTimeIs502() {
    SCENE.upstream.always(Script.stall());
    assertError(SCENE.exchange(chat("impatient")), 502);
    SCENE.upstream.take().awaitGone();
    SCENE.upstream.always(Script.raw(Script.streamHead()).thenStall());
    assertError(SCENE.exchange(stream(CHAT, "impatient")), 502);
    SCENE.upstream.take().awaitGone();
  }

  @Test
  void anEndlessRowOfInterimAnswersIs502() {
    SCENE.upstream.always(
        conversation -> {
          while (true) {
            conversation.write("HTTP/1.1 100 Continue\r\n\r\n".repeat(10));
            conversation.pause(Duration.ofMillis(1));
          }
        });
    assertError(SCENE.exchange(chat("impatient")), 502);
    SCENE.upstream.take().awaitGone();
  }

  @Test
  void anAnswerThatStallsInItsBodyIs502() {
    SCENE.upstream.always(Script.raw(JSON_HEAD + "Content-Length: 9\r\n\r\n{\"a").thenStall());
    assertError(SCENE.exchange(chat("restless")), 502);
    SCENE.upstream.take().awaitGone();
  }

  // Streams that break off after their head was sent on.

  static Stream<Named<Script>> brokenStreams() {
    String begun = Script.streamHead() + Script.chunks(EVENT);
    return Stream.of(
        script("whole but for its terminator", Script.raw(begun + "0\r\n\r\n")),
        script(
            "of its length, but without its terminator",
            Script.raw(STREAM_TYPE + "Content-Length: " + EVENT.length() + "\r\n\r\n" + EVENT)),
        script(
            "until the close, but without its terminator",
            Script.raw(STREAM_TYPE + "\r\n" + EVENT).thenClose()),
        script("closed between events", Script.raw(begun).thenClose()),
        script("reset between events", Script.raw(begun).thenReset()),
        script("closed in an event", Script.raw(begun + Script.chunks("data: {\"n\"")).thenClose()),
        script(
            "closed after one of two line ends",
            Script.raw(begun + Script.chunks("data: 2\n")).thenClose()),
        script("closed in a chunk", Script.raw(begun + "50\r\ndata: {").thenClose()),
        script("reset in a chunk", Script.raw(begun + "50\r\ndata: {").thenReset()),
        script("closed in a size", Script.raw(begun + "5").thenClose()),
        script("closed after a size", Script.raw(begun + "5\r\n").thenClose()),
        script("closed in the last chunk", Script.raw(begun + "0\r\n").thenClose()),
        script("closed in the trailers", Script.raw(begun + "0\r\nX-Tra").thenClose()),
        script("with a bad size", Script.raw(begun + "zz\r\ndata: 2\n\n\r\n0\r\n\r\n")),
        script("with a signed size", Script.raw(begun + "-9\r\ndata: 2\n\n\r\n0\r\n\r\n")),
        script(
            "with a chunk longer than its size",
            Script.raw(begun + "2\r\ndata: 2\n\n\r\n0\r\n\r\n")),
        script(
            "with a long extension",
            Script.raw(begun + "9;" + "x".repeat(100_000) + "\r\ndata: 2\n\n\r\n0\r\n\r\n")),
        script(
            "shorter than its length",
            Script.raw(STREAM_TYPE + "Content-Length: 1000\r\n\r\n" + EVENT).thenClose()),
        script(
            "a few bytes shorter than its length",
            Script.raw(STREAM_TYPE + "Content-Length: " + (EVENT.length() + 5) + "\r\n\r\n" + EVENT)
                .thenClose()),
        script(
            "shorter than its length, in an event",
            Script.raw(STREAM_TYPE + "Content-Length: 1000\r\n\r\n" + EVENT + "data: 2")
                .thenClose()),
        script(
            "reset, and until the close",
            Script.raw(STREAM_TYPE + "\r\n" + EVENT).thenPause(Duration.ofMillis(50)).thenReset()));
  }

  @ParameterizedTest(name = "a stream {0}")
  @MethodSource("brokenStreams")
  void aStreamThatBreaksOffEndsWithAnErrorEventAndWithoutTheLastChunk(Script script) {
    SCENE.upstream.always(script);
    for (String path : List.of(CHAT, MESSAGES)) {
      try (RawClient client = SCENE.client()) {
        client.send(stream(path, "small").wire() + list().wire());
        assertBroken(client, path.equals(MESSAGES), Ending.BROKEN_OFF);
      }
    }
  }

  private static void assertBroken(RawClient client, boolean named, Ending ending) {
    Answer answer = client.read();
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.text()).startsWith(EVENT);
    assertErrorEvent(answer.text(), named, 502, answer.header("x-request-id"));
    assertThat(answer.ending()).isEqualTo(ending);
  }

  @Test
  void aBrokenStreamEndsWithAnErrorEventForAnHttp10ClientToo() {
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks(EVENT, "data: half")).thenClose());
    try (RawClient client = SCENE.client()) {
      client.send(stream(MESSAGES, "small").http10());
      assertBroken(client, true, Ending.UNTIL_CLOSE);
    }
  }

  @Test
  void aStreamThatFallsSilentIsBrokenOff() {
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks(EVENT, "data: ha")).thenStall());
    try (RawClient client = SCENE.client()) {
      client.send(stream(CHAT, "restless"));
      assertBroken(client, false, Ending.BROKEN_OFF);
    }
    SCENE.upstream.take().awaitGone();
  }

  @Test
  void aStreamThatIsCutMidEventKeepsEveryWholeEvent() {
    String events = "data: 1\n\ndata: 2\r\n\r\nevent: x\rdata: 3\r\r";
    SCENE.upstream.answers(
        Script.raw(Script.streamHead() + Script.chunks(events + "data: {\"cut\":")).thenClose());

    Answer answer = SCENE.exchange(stream(CHAT, "small"));

    assertThat(answer.text()).startsWith(events);
    assertErrorEvent(answer.text(), false, 502, answer.header("x-request-id"));
  }

  // Statuses.

  @ParameterizedTest(name = "{0} becomes {1}")
  @CsvSource({
    "400, 400", "413, 413", "415, 400", "422, 400", "401, 502", "402, 502", "403, 502", "404, 502",
    "405, 502", "408, 502", "409, 502", "418, 502", "500, 502", "501, 502", "502, 502", "504, 502",
    "529, 502", "599, 502", "301, 502", "302, 502", "304, 502", "307, 502", "429, 503", "503, 503"
  })
  void theStatusOfAnUpstreamIsMapped(int from, int to) {
    String json = "{\"error\":{\"message\":\"the upstream says so\",\"type\":\"any_error\"}}";
    SCENE.upstream.always(
        from == 304
            ? Script.raw("HTTP/1.1 304 Not Modified\r\n\r\n")
            : Script.json(from, json, "Location: http://127.0.0.1:1/", "WWW-Authenticate: Basic"));
    for (Request request :
        List.of(chat("small"), stream(CHAT, "small"), stream(MESSAGES, "small"))) {
      try (RawClient client = SCENE.client()) {
        Answer answer = client.exchange(request);
        String message = assertError(answer, to);
        assertThat(answer.headers("location")).isEmpty();
        assertThat(answer.headers("www-authenticate")).isEmpty();
        assertThat(message.contains("the upstream says so")).isEqualTo(to == 400 || to == 413);
        assertOpen(client);
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"too hot\"}}",
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"too hot\"}}",
        "{\"error\":\"too hot\"}",
        "{\"message\":\"too hot\"}",
        "{\"object\":\"error\",\"message\":\"too hot\",\"code\":400}"
      })
  void theMessageOfAnUpstreamsRefusalIsPassedOn(String json) {
    SCENE.upstream.answers(Script.json(400, json));

    assertThat(assertError(SCENE.exchange(chat("small")), 400)).contains("too hot");
  }

  @Test
  void aRefusalWithoutAMessageStillHasTheShape() {
    List<Script> refusals =
        List.of(
            Script.json(400, ""),
            Script.json(400, "{"),
            Script.json(400, "{\"error\":{\"message\":7}}"),
            Script.json(400, "{\"error\":{\"message\":\"\"}}"),
            Script.raw("HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"),
            Script.raw(Script.head(400, "text/html") + "Content-Length: 6\r\n\r\n<html>"),
            Script.raw(Script.head(422, "application/json") + "\r\n{\"error\":").thenClose());
    for (Script refusal : refusals) {
      SCENE.upstream.answers(refusal);
      assertError(SCENE.exchange(chat("small")), 400);
      SCENE.upstream.answers(refusal);
      assertError(SCENE.exchange(stream(CHAT, "small")), 400);
    }
  }

  @Test
  void anOverlongMessageOfAnUpstreamIsBoundedAndEscaped() {
    SCENE.upstream.answers(
        Script.json(400, "{\"error\":{\"message\":\"\\u0000\\\"" + "z".repeat(50_000) + "\"}}"));

    assertError(SCENE.exchange(chat("small")), 400);
  }

  @ParameterizedTest(name = "{0} with Retry-After: {1}")
  @CsvSource({
    "503, 7, 7",
    "429, 42, 42",
    "503, 0, ''",
    "503, -1, ''",
    "503, soon, ''",
    "503, 99999999999999999999, ''",
    "503, 1e3, ''",
    "429, '', ''"
  })
  void aSaneRetryAfterOfTheUpstreamIsPassedOn(int status, String value, String expected) {
    SCENE.upstream.answers(Script.json(status, "{}", "Retry-After: " + value));
    Answer answer = SCENE.exchange(chat("small"));

    assertError(answer, 503);
    if (!expected.isEmpty()) {
      assertThat(answer.header("retry-after")).isEqualTo(expected);
    }
  }

  @Test
  void aConnectionThatIsNotMadeInTimeIs503() {
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(chat("silent")), 503);
      assertError(client.exchange(stream(CHAT, "silent")), 503);
      assertOpen(client);
    }
  }

  @Test
  void aRefusedConnectionOfAStreamIs503() {
    try (RawClient client = SCENE.client()) {
      assertError(client.exchange(stream(MESSAGES, "refusing")), 503);
      assertOpen(client);
    }
  }

  // Connections.

  /** A client on whose event loop exactly one upstream connection is idle. */
  private static RawClient warmed() {
    SCENE.forgetUpstreamConnections();
    RawClient client = SCENE.client();
    assertThat(client.exchange(chat("small")).status()).isEqualTo(200);
    return client;
  }

  @Test
  void aPooledConnectionThatDiesBeforeAByteIsRetriedOnceOnAFreshOne() {
    for (Script death : List.of(Script.close(), Script.reset())) {
      for (Request request : List.of(chat("small"), stream(CHAT, "small"))) {
        boolean streaming = request.body().contains("stream");
        try (RawClient client = warmed()) {
          SCENE.upstream.answers(
              death, streaming ? Script.stream(EVENT, Script.DONE) : Script.json("{}"));

          assertThat(client.exchange(request).text())
              .isEqualTo(streaming ? EVENT + Script.DONE : "{}");
          Recorded died = SCENE.upstream.take();
          Recorded fresh = SCENE.upstream.take();
          assertThat(fresh.connection()).isNotEqualTo(died.connection());
          assertThat(fresh.headers()).isEqualTo(died.headers());
          assertThat(fresh.body()).isEqualTo(died.body());
          assertThat(SCENE.upstream.waiting()).isZero();
        }
      }
    }
  }

  @Test
  void theSecondAttemptIsTheLast() {
    try (RawClient client = warmed()) {
      SCENE.upstream.answers(Script.reset(), Script.close());

      assertError(client.exchange(chat("small")), 502);
      SCENE.upstream.take();
      SCENE.upstream.take();
      assertThat(SCENE.upstream.waiting()).isZero();
    }
  }

  @Test
  void aPooledConnectionThatDiesAfterAByteIsNotRetried() {
    try (RawClient client = warmed()) {
      SCENE.upstream.answers(Script.raw("H").thenClose());

      assertError(client.exchange(chat("small")), 502);
      SCENE.upstream.take();
      assertThat(SCENE.upstream.waiting()).isZero();
    }
  }

  @Test
  void aFreshConnectionThatDiesIsNotRetried() {
    SCENE.forgetUpstreamConnections();
    SCENE.upstream.answers(Script.close());

    assertError(SCENE.exchange(chat("small")), 502);
    SCENE.upstream.take();
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @Test
  void aPooledConnectionThatTheUpstreamHasClosedIsNotUsed() {
    try (RawClient client = warmed()) {
      SCENE.forgetUpstreamConnections();

      assertThat(client.exchange(chat("small")).status()).isEqualTo(200);
    }
  }

  static Stream<Named<Script>> spoiled() {
    return Stream.of(
        script(
            "bytes past the length",
            Script.raw(JSON_HEAD + "Content-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r")),
        script(
            "bytes past the last chunk",
            Script.raw(JSON_HEAD + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nX")),
        script(
            "a second answer", Script.raw((JSON_HEAD + "Content-Length: 2\r\n\r\n{}").repeat(2))),
        script("Connection: close", Script.json("{}", "Connection: close")),
        script(
            "HTTP/1.0",
            Script.raw(JSON_HEAD.replace("HTTP/1.1", "HTTP/1.0") + "Content-Length: 2\r\n\r\n{}")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("spoiled")
  void aConnectionThatIsSpoiledIsNotUsedAgain(Script script) {
    try (RawClient client = warmed()) {
      SCENE.upstream.answers(script);

      assertThat(client.exchange(chat("small")).status()).isIn(200, 502);
      assertThat(client.exchange(chat("small")).text()).contains("plain");
      assertThat(SCENE.upstream.take().connection())
          .isNotEqualTo(SCENE.upstream.take().connection());
    }
  }

  @Test
  void aStreamFollowedByAByteTooManyIsWholeAndItsConnectionNotUsedAgain() {
    // One write: a byte that comes later finds the connection in use by the next request.
    SCENE.upstream.answers(
        Script.raw(
            Script.streamHead()
                + Script.chunks(EVENT, Script.DONE)
                + "0\r\n\r\n"
                + "HTTP/1.1 200 OK\r\n"));
    try (RawClient client = SCENE.client()) {
      client.send(stream(CHAT, "small"));
      Answer answer = client.read();
      assertThat(answer.text()).isEqualTo(EVENT + Script.DONE);
      assertThat(answer.ending()).isEqualTo(Ending.WHOLE);
      assertThat(client.exchange(chat("small")).text()).contains("plain");
    }
    assertThat(SCENE.upstream.take().connection()).isNotEqualTo(SCENE.upstream.take().connection());
  }

  @Test
  void anUnaskedAnswerOnAnIdleConnectionEndsIt() {
    CountDownLatch idle = new CountDownLatch(1);
    try (RawClient client = warmed()) {
      SCENE.upstream.answers(
          Script.json("{}").thenAwait(idle).then(Script.json("{\"poison\":true}")).thenStall());
      assertThat(client.exchange(chat("small")).text()).isEqualTo("{}");
      idle.countDown();
      SCENE.upstream.take().awaitGone();

      assertThat(client.exchange(chat("small")).text()).contains("plain");
    }
  }

  @Test
  void anAnswerBeforeTheRequestsBodyWasTakenIsPassedOn() {
    SCENE.upstream.answers(Script.json(400, "{\"error\":{\"message\":\"early\"}}").beforeTheBody());
    String large = Scene.body("small", "\"user\":\"" + "x".repeat(60_000) + "\",");
    try (RawClient client = SCENE.client()) {
      String message = assertError(client.exchange(Request.post(CHAT, large).key(Scene.PRO)), 400);

      assertThat(message).contains("early");
      assertThat(client.exchange(chat("small")).text()).contains("plain");
    }
  }

  @Test
  void anAnswerOfManyMegabytesIsPassedOnWhole() {
    String text = "x".repeat(3 << 20);
    SCENE.upstream.answers(Script.json("{\"a\":\"" + text + "\"}"));

    Map<String, Object> json = SCENE.exchange(chat("small")).json();

    assertThat(json).containsEntry("a", text);
  }

  @Test
  void aStreamOfManyEventsIsPassedOnWhole() {
    StringBuilder events = new StringBuilder();
    for (int i = 0; i < 20_000; i++) {
      events.append("data: {\"n\":").append(i).append("}\n\n");
    }
    String all = events.append(Script.DONE).toString();
    SCENE.upstream.answers(
        conversation -> {
          conversation.write(Script.streamHead());
          for (int i = 0; i < all.length(); i += 1777) {
            conversation.write(Wire.chunk(all.substring(i, Math.min(all.length(), i + 1777))));
          }
          conversation.write("0\r\n\r\n");
        });

    Answer answer = SCENE.exchange(stream(CHAT, "small"));

    assertThat(answer.body()).isEqualTo(all);
    assertThat(answer.ending()).isEqualTo(Ending.WHOLE);
  }
}
