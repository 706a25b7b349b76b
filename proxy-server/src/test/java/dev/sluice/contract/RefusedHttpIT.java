package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.body;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Named.named;

import dev.sluice.testing.Answer;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every form of HTTP that is refused: one 400, the connection closed, nothing of it at an upstream,
 * and the good request that follows on the connection not answered.
 */
class RefusedHttpIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String JSON = body("small", "");

  private static Request post() {
    return chat("small");
  }

  private static Request unframed() {
    return post().rawBody("");
  }

  private static Named<String> form(String name, Request request) {
    return form(name, request.wire());
  }

  private static Named<String> form(String name, String wire) {
    return named(name, wire);
  }

  private static Named<String> chunked(String name, String chunks) {
    return form(
        name, unframed().header("Transfer-Encoding", "chunked").head() + chunks + "0\r\n\r\n");
  }

  private static String size(String text) {
    return text + "\r\n" + JSON + "\r\n";
  }

  private static String hex() {
    return Integer.toHexString(JSON.length());
  }

  static Stream<Named<String>> framing() {
    Request chunked = post().chunked(20);
    String length = Integer.toString(JSON.length());
    return Stream.of(
        form("both framings", chunked.header("Content-Length", length)),
        form(
            "both framings, length first",
            unframed()
                .rawBody(chunked.body())
                .header("Content-Length", length)
                .header("Transfer-Encoding", "chunked")),
        form("two lengths that are equal", post().header("Content-Length", length)),
        form("two lengths that differ", post().header("Content-Length", "3")),
        form("a list of lengths", unframed().header("Content-Length", length + ", " + length)),
        form("a length with a plus", unframed().header("Content-Length", "+5").head() + "hello"),
        form("a length with a minus", unframed().header("Content-Length", "-5")),
        form(
            "a length in hexadecimal", unframed().header("Content-Length", "0x5").head() + "hello"),
        form(
            "a length with a fraction",
            unframed().header("Content-Length", "5.0").head() + "hello"),
        form("an empty length", unframed().header("Content-Length", "")),
        form("a length that is no number", unframed().header("Content-Length", "five")),
        form("a length with a space inside", unframed().header("Content-Length", "1 0")),
        form("coding gzip, chunked", chunked("gzip, chunked")),
        form("coding chunked, chunked", chunked("chunked, chunked")),
        form("coding chunked, gzip", chunked("chunked, gzip")),
        form("coding identity", chunked("identity")),
        form("coding xchunked", chunked("xchunked")),
        form("coding chunked with a parameter", chunked("chunked;q=1")),
        form("an empty coding", chunked("")),
        form("coding in quotes", chunked("\"chunked\"")),
        form("coding with a vertical tab", chunked("\u000bchunked")),
        form("two lines of coding chunked", chunked.header("Transfer-Encoding", "chunked")),
        form(
            "coding identity, then chunked",
            unframed()
                    .header("Transfer-Encoding", "identity")
                    .header("Transfer-Encoding", "chunked")
                    .head()
                + chunked.body()),
        form("coding on HTTP/1.0", chunked.http10()),
        form("coding with GET", list().header("Transfer-Encoding", "gzip")));
  }

  private static String chunked(String coding) {
    return unframed().header("Transfer-Encoding", coding).head() + post().chunked(20).body();
  }

  static Stream<Named<String>> heads() {
    Request get = list();
    Request hostless = get.without("Host");
    return Stream.of(
        form("a folded line", get.rawHeader("X-A: 1\r\n folded")),
        form("a line folded with a tab", get.rawHeader("X-A: 1\r\n\tfolded")),
        form("an empty folded line", get.rawHeader("X-A: 1\r\n ")),
        form("a folded first line", hostless.rawHeader(" X-A: 1").header("Host", "a")),
        form("no host", hostless),
        form("two hosts", get.header("Host", "sluice.test")),
        form("an empty host", hostless.header("Host", "")),
        form("a host with a space", hostless.header("Host", "a b")),
        form("a list of hosts", hostless.header("Host", "a, b")),
        form("a host with a path", hostless.header("Host", "a/b")),
        form("a host with a user", hostless.header("Host", "u@a")),
        form("a host with a query", hostless.header("Host", "a?b")),
        form("a host with a scheme", hostless.header("Host", "http://a")),
        form("a host with two ports", hostless.header("Host", "a:1:2")),
        form("a host with a port that is no number", hostless.header("Host", "a:b")),
        form("a host with an open bracket", hostless.header("Host", "[::1")),
        form("a host with a quote", hostless.header("Host", "a\"b")),
        form("a host outside ASCII", hostless.header("Host", "\u00fc.test")),
        form("NUL in a value", get.header("X-A", "a\0b")),
        form("a control character in a value", get.header("X-A", "a\u0001b")),
        form("an escape in a value", get.header("X-A", "a\u001bb")),
        form("DEL in a value", get.header("X-A", "a\u007fb")),
        form("a bare CR in a value", get.header("X-A", "a\rb")),
        form("a bare CR before a header", get.rawHeader("X-A: 1\rX-B: 2")),
        form("a CR before the CR LF", get.rawHeader("X-A: 1\r")),
        form("a bare LF as line end", get.wire().replace("\r\n", "\n")),
        form("a bare LF after one header", get.rawHeader("X-A: 1\nX-B: 2")),
        form("a bare LF after the head", post().head().replaceAll("\r\n$", "\n") + JSON),
        form("a space before the colon", get.rawHeader("X-A : 1")),
        form("a tab before the colon", get.rawHeader("X-A\t: 1")),
        form("a space before the colon of the length", unframed().rawHeader("Content-Length : 5")),
        form("a space in a name", get.rawHeader("X A: 1")),
        form("no colon", get.rawHeader("XA")),
        form("no name", get.rawHeader(": 1")),
        form("a parenthesis in a name", get.rawHeader("X(A: 1")),
        form("a name outside ASCII", get.rawHeader("X-\u00fc: 1")),
        form("a control character in a name", get.rawHeader("X\u0001A: 1")));
  }

  static Stream<Named<String>> requestLines() {
    return Stream.of(
            " GET /v1/models HTTP/1.1",
            "\tGET /v1/models HTTP/1.1",
            "GET  /v1/models HTTP/1.1",
            "GET /v1/models  HTTP/1.1",
            "GET\t/v1/models HTTP/1.1",
            "GET /v1/models\tHTTP/1.1",
            "GET /v1/models HTTP/1.1 ",
            "GET /v1/mo dels HTTP/1.1",
            "GET /v1/models",
            "GET",
            "/v1/models HTTP/1.1",
            "GET HTTP/1.1",
            "GET /v1/models HTTP/0.9",
            "GET /v1/models HTTP/1.2",
            "GET /v1/models HTTP/2.0",
            "GET /v1/models HTTP/9.9",
            "GET /v1/models HTTP/1",
            "GET /v1/models HTTP/1.",
            "GET /v1/models HTTP/1.10",
            "GET /v1/models HTTP/01.1",
            "GET /v1/models HTTP/1.1x",
            "GET /v1/models http/1.1",
            "GET /v1/models Http/1.1",
            "GET /v1/models HTTPS/1.1",
            "GET /v1/models ICAP/1.0",
            "PRI * HTTP/2.0",
            "G(T /v1/models HTTP/1.1",
            "G\u00cbT /v1/models HTTP/1.1",
            "GET\0 /v1/models HTTP/1.1",
            "GET /v1/models\u00fc HTTP/1.1",
            "GET /v1/models/\u00ff HTTP/1.1",
            "GET /v1/models\0 HTTP/1.1",
            "GET /v1/models\u0001 HTTP/1.1",
            "GET /v1/models\u007f HTTP/1.1",
            "GET /v1/mo\rdels HTTP/1.1",
            "GET /v1/models#top HTTP/1.1",
            "GET v1/models HTTP/1.1",
            "GET * HTTP/1.1",
            "GET ?a HTTP/1.1",
            "GET http:///v1/models HTTP/1.1",
            "GET http://a b/v1/models HTTP/1.1")
        .map(line -> form(line.replaceAll("[^ -~]", "?"), list().line(line)));
  }

  static Stream<Named<String>> chunks() {
    String hex = hex();
    return Stream.of(
        chunked("a size with a plus", size("+" + hex)),
        chunked("a size with a minus", size("-" + hex)),
        chunked("a size with a prefix", size("0x" + hex)),
        chunked("a size after a space", size(" " + hex)),
        chunked("a size before a space", size(hex + " ")),
        chunked("a size after a tab", size("\t" + hex)),
        chunked("a size before a space and an extension", size(hex + " ;a=b")),
        chunked("a size of 17 digits", size("0".repeat(17 - hex.length()) + hex)),
        chunked("a size past 64 bits", size("f".repeat(16))),
        chunked("no size", size("")),
        chunked("a size that is no number", size("xyz")),
        chunked("a size with an underscore", size("1_0")),
        chunked("a size with only an extension", size(";a=b")),
        chunked("a size line that ends in LF", hex + "\n" + JSON + "\r\n"),
        chunked("a size line that ends in CR", hex + "\r" + JSON + "\r\n"),
        chunked("a long extension", size(hex + ";a=" + "b".repeat(20_000))),
        chunked("NUL in an extension", size(hex + ";a=\0")),
        chunked("a bare CR in an extension", size(hex + ";a=\rb")),
        chunked("a bare LF in an extension", size(hex + ";a=\nb")),
        chunked("data longer than the size", hex + "\r\n" + JSON + "xx\r\n"),
        chunked("data without a line end", hex + "\r\n" + JSON),
        chunked("data that ends in LF", hex + "\r\n" + JSON + "\n"),
        chunked("data that ends in CR and a letter", hex + "\r\n" + JSON + "\rx"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource({"framing", "heads", "requestLines"})
  void isRefusedWithOneAnswer(String wire) {
    assertRefused(wire);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("chunks")
  void aBadChunkIsRefusedWithOneAnswer(String wire) {
    assertRefused(wire);
  }

  private static void assertRefused(String wire) {
    try (RawClient client = SCENE.client()) {
      client.sendAsFarAsTaken(wire + list().wire());
      Answer answer = client.read();
      assertError(answer, 400);
      assertThat(answer.header("connection")).isEqualToIgnoringCase("close");
      client.assertClosed();
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @Test
  void aRefusedRequestAfterAGoodOneIsAnsweredAfterIt() {
    try (RawClient client = SCENE.client()) {
      client.send(post().wire() + list().rawHeader("X-A : 1").wire() + list().wire());

      assertThat(client.read().status()).isEqualTo(200);
      assertError(client.read(), 400);
      client.assertClosed();
    }
  }

  @Test
  void bytesThatAreNoHttpAtAllAreRefused() {
    for (String noise :
        List.of(
            "\0\0\0\0\r\n\r\n",
            "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003\r\n\r\n",
            "SSH-2.0-OpenSSH_9.2\r\n\r\n",
            "{\"model\":\"small\"}\r\n\r\n")) {
      try (RawClient client = SCENE.client()) {
        client.sendAsFarAsTaken(noise);
        assertError(client.read(), 400);
        client.assertClosed();
      }
    }
  }

  @Test
  void aRefusedRequestSplitAtAnyByteIsRefusedAllTheSame() {
    String wire = Request.get("/v1/models").key(PRO).rawHeader("X-A: 1\r\n folded").wire();
    for (int at = 1; at < wire.length(); at += 3) {
      try (RawClient client = SCENE.client()) {
        client.send(wire.substring(0, at)).sendAsFarAsTaken(wire.substring(at) + list().wire());
        assertError(client.read(), 400);
        client.assertClosed();
      }
    }
  }

  @Test
  void theSamePathAcceptsAGoodRequestAfterAll() {
    assertThat(SCENE.exchange(Request.post(CHAT, JSON).key(PRO)).status()).isEqualTo(200);
  }
}
