package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.http.HeadParser.Progress;
import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpRequest;
import java.time.Duration;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestHeadTest {
  private static final HttpLimits LIMITS =
      new HttpLimits(
          40, 100, 4, 1, 1, 1, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(1));

  @Test
  void aPlainHeadIsReadAsItStandsButForTheCaseOfItsNames() {
    assertThat(read("POST /v1/x?a=%20 HTTP/1.1\r\nHost: h\r\nX-A:\tone two \r\nx-a:\r\n\r\n"))
        .isEqualTo("POST /v1/x?a=%20 HTTP/1.1|host=h|x-a=one two|x-a=|");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // The request line.
        " GET / HTTP/1.1",
        "\tGET / HTTP/1.1",
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "GET /\tHTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET / HTTP/1.1\t",
        "GET /",
        "GET / ",
        "GET",
        "GET ",
        "GET HTTP/1.1",
        "GET /a b HTTP/1.1",
        "G@T / HTTP/1.1",
        "(GET) / HTTP/1.1",
        "GET:/ HTTP/1.1",
        "GÉT / HTTP/1.1",
        "GET / HTTP/9.9",
        "GET / HTTP/1.2",
        "GET / HTTP/0.9",
        "GET / HTTP/2.0",
        "PRI * HTTP/2.0",
        "GET / http/1.1",
        "GET / HTTP/1.10",
        "GET / HTTP/1,1",
        "GET / HTTP/1.1x",
        "GET / HTTPS/1.1",
        "GET /ü HTTP/1.1",
        "GET /a#b HTTP/1.1",
        "GET /\u0000 HTTP/1.1",
        "GET /\u007F HTTP/1.1",
        "GET /<b> HTTP/1.1",
        "GET /\"b\" HTTP/1.1",
        "GET /a\\b HTTP/1.1",
        "GET /{b} HTTP/1.1",
        "GET /a|b HTTP/1.1",
        "GET /a^b HTTP/1.1",
        "GET /a`b HTTP/1.1",
        "GET / HTTP/1.1\r",
        "\u0016\u0003\u0001",
        "\u0000GET / HTTP/1.1",
        "{\"model\":\"x\"}",
      })
  void aRequestLineOfAnotherFormIsRefused(String line) {
    assertRefused(line + "\r\nHost: h\r\n\r\n", Reason.HTTP_MALFORMED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " Folded: x",
        "\tfolded: x",
        "A: b\r\n folded",
        "A: b\r\n\tfolded",
        "A : b",
        "A\t: b",
        ": b",
        "A",
        "A B: c",
        "A\u0000: b",
        "A: b\u0000c",
        "A: b\u000Bc",
        "A: b\u001Bc",
        "A: b\u007Fc",
        "A: b\rc",
        "A: b\r",
        "\u00E4: b",
        "A(x): b",
        "A[]: b",
        "A@: b",
        "\"A\": b",
        "A/B: c",
      })
  void aHeaderLineOfAnotherFormIsRefused(String line) {
    assertRefused("GET / HTTP/1.1\r\n" + line + "\r\n\r\n", Reason.HTTP_MALFORMED);
    assertRefused("GET / HTTP/1.1\r\nHost: h\r\n" + line + "\r\n\r\n", Reason.HTTP_MALFORMED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\n",
        "\nGET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n",
      })
  void aLineEndOtherThanCrLfIsRefused(String head) {
    assertRefused(head, Reason.HTTP_MALFORMED);
  }

  @Test
  void visibleBytesOutsideAsciiMayStandInAValueAlone() {
    assertThat(read("GET / HTTP/1.1\r\nX: \u00FC\u0080\u00FF\r\n\r\n"))
        .isEqualTo("GET / HTTP/1.1|x=\u00FC\u0080\u00FF|");
  }

  @Test
  void oneEmptyLineBeforeTheRequestLineIsPassedOver() {
    assertThat(read("\r\nGET / HTTP/1.0\r\n\r\n")).isEqualTo("GET / HTTP/1.0|");
    assertRefused("\r\n\r\nGET / HTTP/1.0\r\n\r\n", Reason.HTTP_MALFORMED);
    assertRefused("\r\n GET / HTTP/1.0\r\n\r\n", Reason.HTTP_MALFORMED);
  }

  @Test
  void aRequestLineMayFillItsBoundAndNotPassIt() {
    String path = "/" + "a".repeat(40 - "GET / HTTP/1.1".length());
    assertThat(read("GET " + path + " HTTP/1.1\r\n\r\n")).isEqualTo("GET " + path + " HTTP/1.1|");
    assertRefused("GET " + path + "a HTTP/1.1\r\n\r\n", Reason.REQUEST_LINE_TOO_LONG);
  }

  @Test
  void aRequestLineThatNeverEndsIsRefusedAtItsBound() {
    assertThat(unfinished("G".repeat(40))).isEqualTo(Progress.MORE);
    assertRefused("G".repeat(42), Reason.REQUEST_LINE_TOO_LONG);
  }

  @Test
  void headerLinesTogetherMayFillTheirBoundAndNotPassIt() {
    String half = "A: " + "x".repeat(45) + "\r\n";
    assertThat(half).hasSize(50);
    assertThat(read("GET / HTTP/1.1\r\n" + half + half + "\r\n")).startsWith("GET / HTTP/1.1|a=x");
    assertRefused(
        "GET / HTTP/1.1\r\n" + half + half.replace("A:", "AA:") + "\r\n", Reason.HEADERS_TOO_LARGE);
  }

  @Test
  void headerLinesThatNeverEndAreRefusedAtTheirBound() {
    assertThat(unfinished("GET / HTTP/1.1\r\n" + "A".repeat(98))).isEqualTo(Progress.MORE);
    assertRefused("GET / HTTP/1.1\r\n" + "A".repeat(102), Reason.HEADERS_TOO_LARGE);
    assertRefused("GET / HTTP/1.1\r\n" + "A:b\r\n".repeat(5), Reason.HEADERS_TOO_LARGE);
  }

  @Test
  void headerLinesMayBeAsManyAsTheirBoundAndNoMore() {
    assertThat(read("GET / HTTP/1.1\r\n" + "A:b\r\n".repeat(4) + "\r\n"))
        .isEqualTo("GET / HTTP/1.1|a=b|a=b|a=b|a=b|");
    assertRefused("GET / HTTP/1.1\r\n" + "A:b\r\n".repeat(5) + "\r\n", Reason.HEADERS_TOO_LARGE);
  }

  @Test
  void oneParserReadsOneHeadAfterAnother() {
    RequestHeadParser parser = new RequestHeadParser(LIMITS);
    ByteBuf in =
        Bytes.of("GET /1 HTTP/1.1\r\nA: 1\r\n\r\nGET /2 HTTP/1.0\r\nB: 2\r\nC: 3\r\n\r\nrest");

    assertThat(parser.parse(in)).isEqualTo(Progress.WHOLE);
    assertThat(text(parser.take())).isEqualTo("GET /1 HTTP/1.1|a=1|");
    assertThat(parser.hasBegun()).isFalse();
    assertThat(parser.parse(in)).isEqualTo(Progress.WHOLE);
    assertThat(text(parser.take())).isEqualTo("GET /2 HTTP/1.0|b=2|c=3|");
    assertThat(Bytes.text(in)).isEqualTo("rest");
  }

  @Test
  void aTrickleLooksAtEachByteOnce() {
    // A line that would take minutes if every byte had the whole line searched anew.
    int bytes = 1 << 20;
    HttpLimits wide =
        new HttpLimits(
            bytes + 100,
            bytes,
            1,
            1,
            1,
            1,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1));
    RequestHeadParser parser = new RequestHeadParser(wide);
    ByteBuf in = Bytes.of("GET /" + "a".repeat(bytes));
    int end = in.writerIndex();
    in.writerIndex(0);
    long started = System.nanoTime();
    while (in.writerIndex() < end) {
      in.writerIndex(in.writerIndex() + 1);
      assertThat(parser.parse(in) == Progress.MORE).isTrue();
    }
    assertThat(Duration.ofNanos(System.nanoTime() - started)).isLessThan(Duration.ofSeconds(20));
    in.release();
  }

  /** Reads a head, cut in two at every offset and byte by byte: all must say the same. */
  private static String read(String head) {
    String whole = outcome(head, head.length());
    for (int cut = 1; cut < head.length(); cut++) {
      assertThat(outcome(head, cut)).as("cut at %d", cut).isEqualTo(whole);
    }
    assertThat(trickled(head)).as("byte by byte").isEqualTo(whole);
    return whole;
  }

  private static void assertRefused(String head, Reason reason) {
    assertThat(read(head)).isEqualTo(reason.name());
  }

  private static Progress unfinished(String head) {
    ByteBuf in = Bytes.of(head);
    try {
      return new RequestHeadParser(LIMITS).parse(in);
    } finally {
      in.release();
    }
  }

  private static String outcome(String head, int cut) {
    RequestHeadParser parser = new RequestHeadParser(LIMITS);
    ByteBuf in = Bytes.of(head);
    try {
      in.writerIndex(cut);
      Progress progress = parser.parse(in);
      if (progress == Progress.MORE) {
        in.writerIndex(head.length());
        progress = parser.parse(in);
      }
      return outcome(parser, progress);
    } finally {
      in.release();
    }
  }

  private static String trickled(String head) {
    RequestHeadParser parser = new RequestHeadParser(LIMITS);
    ByteBuf in = Bytes.of(head);
    try {
      Progress progress = Progress.MORE;
      for (int to = 1; to <= head.length() && progress == Progress.MORE; to++) {
        in.writerIndex(to);
        progress = parser.parse(in);
      }
      return outcome(parser, progress);
    } finally {
      in.release();
    }
  }

  private static String outcome(RequestHeadParser parser, Progress progress) {
    return switch (progress) {
      case MORE -> "MORE";
      case REFUSED -> refusal(parser.refusal());
      case WHOLE -> text(parser.take());
    };
  }

  private static String refusal(Failure failure) {
    assertThat(failure.message()).isNotBlank().endsWith(".");
    return failure.reason().name();
  }

  private static String text(HttpRequest head) {
    return head.method()
        + " "
        + head.uri()
        + " "
        + head.protocolVersion()
        + "|"
        + head.headers().entries().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue() + "|")
            .collect(Collectors.joining());
  }
}
