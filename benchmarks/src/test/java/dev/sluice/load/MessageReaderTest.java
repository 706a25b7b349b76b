package dev.sluice.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageReaderTest {
  private static final String TWO_ANSWERS =
      "HTTP/1.1 200 OK\r\nContent-Type: a\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "5;x=y\r\nhello\r\nA\r\n, world!!!\r\n0\r\nTrailer: t\r\n\r\n"
          + "HTTP/1.1 404 Not Found\r\nCONTENT-LENGTH: 4\r\n\r\ngone";

  @Test
  void readsMessagesThatComeInAnyPieces() throws Exception {
    for (int size = 1; size <= TWO_ANSWERS.length(); size++) {
      Recorder reader = new Recorder();
      for (int from = 0; from < TWO_ANSWERS.length(); from += size) {
        reader.feed(TWO_ANSWERS.substring(from, Math.min(TWO_ANSWERS.length(), from + size)));
      }

      assertThat(reader.seen)
          .as("pieces of " + size)
          .containsExactly(
              "HTTP/1.1 200 OK",
              "content-type=a",
              "transfer-encoding=chunked",
              "hello, world!!!",
              "HTTP/1.1 404 Not Found",
              "content-length=4",
              "gone");
      assertThat(reader.isBetweenMessages()).isTrue();
    }
  }

  @Test
  void aMessageWithoutLengthHasNoBody() throws Exception {
    Recorder reader = new Recorder();
    reader.feed("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");

    assertThat(reader.seen).containsExactly("GET / HTTP/1.1", "host=h", "", "GET /2 HTTP/1.1", "");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\n",
        "HTTP/1.1 200 OK\r\n: nameless\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
      })
  void refusesWhatIsNoMessage(String wire) {
    assertThatThrownBy(() -> new Recorder().feed(wire)).isInstanceOf(ProtocolException.class);
  }

  @Test
  void refusesALineWithoutEnd() {
    assertThatThrownBy(() -> new Recorder().feed("x".repeat(100_000)))
        .isInstanceOf(ProtocolException.class)
        .hasMessageStartingWith("line: too long");
  }

  private static final class Recorder extends MessageReader {
    private final List<String> seen = new ArrayList<>();
    private final StringBuilder body = new StringBuilder();

    void feed(String wire) throws ProtocolException {
      ByteBuf bytes = Unpooled.copiedBuffer(wire, StandardCharsets.US_ASCII);
      read(bytes);
      assertThat(bytes.isReadable()).isFalse();
    }

    @Override
    void startLine(String text) {
      seen.add(text);
    }

    @Override
    void header(String name, String value) {
      seen.add(name + "=" + value);
    }

    @Override
    void payload(ByteBuf in, int from, int length) {
      body.append(in.toString(from, length, StandardCharsets.US_ASCII));
    }

    @Override
    void end() {
      seen.add(body.toString());
      body.setLength(0);
    }
  }
}
