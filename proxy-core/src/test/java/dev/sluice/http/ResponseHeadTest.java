package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.http.HeadParser.Progress;
import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseHeadTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK",
        "HTTP/1.1 200 ",
        "HTTP/1.1 200",
        "HTTP/1.1 200 Ganz \u00FCbel\t!",
      })
  void aStatusLineIsReadWhateverItsReasonPhrase(String line) {
    assertThat(read(line + "\r\nA: b\r\n\r\n")).isEqualTo("200 1.1 [a=b]");
  }

  @Test
  void http10IsTold() {
    assertThat(read("HTTP/1.0 503 no\r\n\r\n")).isEqualTo("503 1.0 []");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 099 OK",
        "HTTP/1.1 600 OK",
        "HTTP/1.1 999",
        "HTTP/1.1 000",
        "HTTP/1.1 2x0 OK",
        "HTTP/1.1 +20 OK",
        "HTTP/1.1 -20 OK",
        "HTTP/1.1  200 OK",
        "HTTP/1.1\t200 OK",
        "HTTP/1.1 200\tOK",
        "HTTP/1.1 200OK",
        "HTTP/1.1",
        "HTTP/1.1 ",
        "HTTP/1.2 200 OK",
        "HTTP/2.0 200 OK",
        "HTTP/2 200 OK",
        "http/1.1 200 OK",
        " HTTP/1.1 200 OK",
        "ICY 200 OK",
        "200 OK",
        "{\"error\":1}",
        "HTTP/1.1 200 O\u0000K",
        "HTTP/1.1 200 O\rK",
        "HTTP/1.1 200 \u007F",
      })
  void aStatusLineOfAnotherFormIsRefused(String line) {
    assertThat(read(line + "\r\nA: b\r\n\r\n")).isEqualTo(Reason.UPSTREAM_PROTOCOL.name());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\nA: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\u0000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "\u0015\u0003\u0003\u0000\u0002",
      })
  void aHeadThatIsNotHttpIsRefused(String head) {
    assertThat(read(head)).isEqualTo(Reason.UPSTREAM_PROTOCOL.name());
  }

  @Test
  void anAnswersStatusLineIsBounded() {
    String phrase = "x".repeat((4 << 10) - "HTTP/1.1 200 ".length());
    assertThat(outcome("HTTP/1.1 200 " + phrase + "\r\n\r\n", 0)).isEqualTo("200 1.1 []");
    assertThat(outcome("HTTP/1.1 200 x" + phrase + "\r\n\r\n", 0))
        .isEqualTo(Reason.UPSTREAM_PROTOCOL.name());
    assertThat(outcome("HTTP/1.1 200 xx" + phrase, 0)).isEqualTo(Reason.UPSTREAM_PROTOCOL.name());
  }

  @Test
  void anAnswersHeadersAreBounded() {
    String line = "A: " + "x".repeat(1019) + "\r\n";
    assertThat(outcome("HTTP/1.1 200 OK\r\n" + line.repeat(64) + "\r\n", 0)).startsWith("200 1.1");
    assertThat(outcome("HTTP/1.1 200 OK\r\n" + line.repeat(64) + "A:\r\n\r\n", 0))
        .isEqualTo(Reason.UPSTREAM_PROTOCOL.name());
    assertThat(outcome("HTTP/1.1 200 OK\r\n" + "A:\r\n".repeat(200) + "\r\n", 0))
        .startsWith("200 1.1");
    assertThat(outcome("HTTP/1.1 200 OK\r\n" + "A:\r\n".repeat(201) + "\r\n", 0))
        .isEqualTo(Reason.UPSTREAM_PROTOCOL.name());
  }

  @Test
  void anInterimAnswerAndTheOneBehindItAreTwoHeads() {
    ResponseHeadParser parser = new ResponseHeadParser();
    ByteBuf in = Bytes.of("HTTP/1.1 100 Continue\r\nA: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}");

    assertThat(parser.parse(in)).isEqualTo(Progress.WHOLE);
    assertThat(text(parser.take())).isEqualTo("100 1.1 [a=1]");
    assertThat(parser.parse(in)).isEqualTo(Progress.WHOLE);
    assertThat(text(parser.take())).isEqualTo("200 1.1 []");
    assertThat(Bytes.text(in)).isEqualTo("{}");
  }

  /** Reads a head, cut in two at every offset: all must say the same. */
  private static String read(String head) {
    String whole = outcome(head, 0);
    for (int cut = 1; cut < head.length(); cut++) {
      assertThat(outcome(head, cut)).as("cut at %d", cut).isEqualTo(whole);
    }
    return whole;
  }

  private static String outcome(String head, int cut) {
    ResponseHeadParser parser = new ResponseHeadParser();
    ByteBuf in = Bytes.of(head);
    try {
      in.writerIndex(cut);
      Progress progress = parser.parse(in);
      if (progress == Progress.MORE) {
        in.writerIndex(head.length());
        progress = parser.parse(in);
      }
      return switch (progress) {
        case MORE -> "MORE";
        case REFUSED -> parser.refusal().reason().name();
        case WHOLE -> text(parser.take());
      };
    } finally {
      in.release();
    }
  }

  private static String text(ResponseHead head) {
    return head.status() + (head.http10() ? " 1.0 " : " 1.1 ") + head.headers().entries();
  }
}
