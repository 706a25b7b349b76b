package dev.sluice.sse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.http.BodyFraming;
import dev.sluice.http.BodyFraming.Kind;
import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BodyScannerTest {
  private static final BodyFraming CHUNKED = new BodyFraming(Kind.CHUNKED, 0, null);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0^^                               | (end)",
        "5^hello^0^^                       | hello(chunk)(end)",
        "5^hello^6^ world^0^^              | hello(chunk) world(chunk)(end)",
        "a^0123456789^0^^                  | 0123456789(chunk)(end)",
        "A^0123456789^0^^                  | 0123456789(chunk)(end)",
        "00000000000000005^                | (malformed)",
        "0000000000000005^hello^0^^        | hello(chunk)(end)",
        "0000000000000000^^                | (end)",
        "00000000000000000^^               | (malformed)",
        "5;a=b^hello^0;c^^                 | hello(chunk)(end)",
        "5;a=\"b;c\"^hello^0^^             | hello(chunk)(end)",
        "5;^hello^0^^                      | hello(chunk)(end)",
        "0^A: b^C: d^^                     | (end)",
        "0^Transfer-Encoding: gzip^^       | (end)",
        "5^hello^0^^surplus                | hello(chunk)(end)+surplus",
        "0^A: b^^0^^                       | (end)+0^^",
      })
  void aChunkedBodyIsReadToItsEnd(String body, String expected) {
    assertThat(scanAllWays(CHUNKED, body.strip())).isEqualTo(expected.strip());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "^5^",
        ";a^",
        "-5^hello^",
        "+5^hello^",
        "0x5^hello^",
        "5h^",
        "g^",
        " 5^",
        "5 ^hello^",
        "5\t^",
        "5 ;a^",
        "5,5^",
        "5.0^",
        "\u0000^",
        "\u00B2^",
        "5\nhello",
        "5\rhello",
        "5\r\r\n",
        "5^helloo^",
        "5^hell^0^^",
        "5^hello\n0^^",
        "5^hello\r\r\n",
        "5^hello0^^",
        "1^^^0^^",
        "8000000000000000^",
        "ffffffffffffffff^",
        "10000000000000000^",
        "5;a\nb^hello",
        "5;a\u0000^hello",
        "5;a\u007F^hello",
        "5;a\rb",
        "0^\n",
        "0^\rx",
        "0\n\n",
        "0^A: b\n^",
        "0^A: b\u0000^^",
        "0^A: b\rc^^",
      })
  void framingThatTwoReadersCouldReadDifferentlyIsMalformed(String body) {
    assertThat(scanAllWays(CHUNKED, body)).endsWith("(malformed)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "0\r",
        "0^",
        "0^\r",
        "0^A",
        "0^A: b",
        "0^A: b\r",
        "0^A: b^",
        "0^A: b^\r",
        "5",
        "5;a",
        "5^",
        "5^hell",
        "5^hello",
        "5^hello\r",
        "5^hello^",
        "5^hello^0",
      })
  void aChunkedBodyThatBreaksOffIsNotWhole(String body) {
    assertThat(scanAllWays(CHUNKED, body)).endsWith("(more)");
    assertThat(endsWithConnection(CHUNKED, body)).isFalse();
  }

  @Test
  void theLargestChunkIsCountedExactly() {
    BodyScanner scanner = new BodyScanner(CHUNKED);
    ByteBuf in = Bytes.of("7fffffffffffffff\r\nabc");

    assertThat(scanner.next(in)).isEqualTo(3);
    assertThat(scanner.remaining()).isEqualTo(Long.MAX_VALUE);
    scanner.took(3);
    assertThat(scanner.remaining()).isEqualTo(Long.MAX_VALUE - 3);
    assertThat(scanner.endsWithConnection()).isFalse();
    in.release();
  }

  @Test
  void extensionsMayFillTheirBoundInEveryChunkAndNotPassIt() {
    String most = ";" + "x".repeat(BodyScanner.MAX_EXTENSION_BYTES);
    assertThat(scan(CHUNKED, "1" + most + "^a^1" + most + "^b^0" + most + "^^"))
        .isEqualTo("a(chunk)b(chunk)(end)");
    assertThat(scan(CHUNKED, "1" + most + "x^a^0^^")).isEqualTo("(malformed)");
    assertThat(scan(CHUNKED, "1" + most + "x")).isEqualTo("(malformed)");
    assertThat(scan(CHUNKED, "0" + most + "x^^")).isEqualTo("(malformed)");
  }

  @Test
  void trailersTogetherMayFillTheirBoundAndNotPassIt() {
    String line = "A: " + "x".repeat(61);
    String lines = (line + "^").repeat(BodyScanner.MAX_TRAILER_BYTES / line.length());
    assertThat(scan(CHUNKED, "0^" + lines + "^")).isEqualTo("(end)");
    assertThat(scan(CHUNKED, "0^" + lines + "A^^")).isEqualTo("(malformed)");
    assertThat(scan(CHUNKED, "0^" + "A".repeat(BodyScanner.MAX_TRAILER_BYTES + 1)))
        .isEqualTo("(malformed)");
  }

  @Test
  void aBodyOfKnownLengthEndsWithItsLastByte() {
    BodyFraming five = new BodyFraming(Kind.LENGTH, 5, null);
    assertThat(scanAllWays(five, "hello")).isEqualTo("hello(end)");
    assertThat(scanAllWays(five, "helloGET /")).isEqualTo("hello(end)+GET /");
    assertThat(scanAllWays(five, "hell")).isEqualTo("hell(more)");
    assertThat(endsWithConnection(five, "hell")).isFalse();
    assertThat(endsWithConnection(five, "hello")).isTrue();
  }

  @Test
  void anEmptyBodyHasEndedBeforeItsFirstByte() {
    BodyScanner scanner = new BodyScanner(new BodyFraming(Kind.LENGTH, 0, null));
    assertThat(scanner.ended()).isTrue();
    assertThat(scanner.endsWithConnection()).isTrue();
    assertThat(scanAllWays(new BodyFraming(Kind.LENGTH, 0, null), "x")).isEqualTo("(end)+x");
  }

  @Test
  void aBodyOfTheLargestLengthThatBreaksOffIsNotWhole() {
    assertThat(endsWithConnection(new BodyFraming(Kind.LENGTH, Long.MAX_VALUE, null), "hello"))
        .isFalse();
  }

  @Test
  void aBodyUntilTheConnectionClosesIsWholeWhereverItEnds() {
    BodyFraming framing = new BodyFraming(Kind.UNTIL_CLOSE, 0, null);
    assertThat(scanAllWays(framing, "0^^hello")).isEqualTo("0^^hello(more)");
    assertThat(endsWithConnection(framing, "")).isTrue();
    assertThat(endsWithConnection(framing, "hello")).isTrue();
  }

  private static boolean endsWithConnection(BodyFraming framing, String body) {
    BodyScanner scanner = new BodyScanner(framing);
    ByteBuf in = Bytes.of(body.replace("^", "\r\n"));
    scan(scanner, in, new StringBuilder());
    in.release();
    return scanner.endsWithConnection();
  }

  /** Scans a body whole, cut in two at every offset, and byte by byte: all must say the same. */
  private static String scanAllWays(BodyFraming framing, String body) {
    String whole = scan(framing, body);
    String bytes = body.replace("^", "\r\n");
    for (int cut = 0; cut <= bytes.length(); cut++) {
      assertThat(scan(framing, bytes.substring(0, cut), bytes.substring(cut)))
          .as("cut at %d", cut)
          .isEqualTo(whole);
    }
    assertThat(scan(framing, bytes.split("(?!^)", -1))).as("byte by byte").isEqualTo(whole);
    return whole;
  }

  private static String scan(BodyFraming framing, String... pieces) {
    BodyScanner scanner = new BodyScanner(framing);
    StringBuilder said = new StringBuilder();
    StringBuilder surplus = new StringBuilder();
    String last = "(more)";
    for (String piece : pieces) {
      ByteBuf in = Bytes.of(piece.replace("^", "\r\n"));
      last = scan(scanner, in, said);
      String left = Bytes.text(in);
      if (last.equals("(end)")) {
        surplus.append(left);
      } else if (last.equals("(more)")) {
        assertThat(left).isEmpty();
      }
    }
    if (surplus.length() > 0) {
      surplus.insert(0, '+');
    }
    return (said + last + surplus).replace("\r\n", "^");
  }

  /** Appends payload and chunk ends; returns how the piece ended. */
  private static String scan(BodyScanner scanner, ByteBuf in, StringBuilder said) {
    while (true) {
      int next = scanner.next(in);
      if (next > 0) {
        said.append(Bytes.text(in.readRetainedSlice(next)));
        scanner.took(next);
      } else if (next == BodyScanner.CHUNK_END) {
        said.append("(chunk)");
      } else if (next == BodyScanner.END) {
        return "(end)";
      } else {
        return next == BodyScanner.MORE ? "(more)" : "(malformed)";
      }
    }
  }
}
