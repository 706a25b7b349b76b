package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeadWriterTest {
  private static String written(HeadWriter head) {
    return Bytes.text(head.toBuffer(ByteBufAllocator.DEFAULT, 0));
  }

  @Test
  void aHeadIsItsLines() {
    HeadWriter head = HeadWriter.begin();
    head.text("GET ").text("/").text(" HTTP/1.1").endOfLine();
    head.header(AsciiString.of("host"), "h").header("x", "y").endOfLine();

    assertThat(written(head)).isEqualTo("GET / HTTP/1.1\r\nhost: h\r\nx: y\r\n\r\n");
  }

  @Test
  void aCharacterIsOneByte() {
    assertThat(written(HeadWriter.begin().text("\u00e4\u00ff\t"))).isEqualTo("\u00e4\u00ff\t");
  }

  @ParameterizedTest
  @ValueSource(chars = {'\u0100', '\u010a', '\u0d0d', '\ud83d', '\uff0a'})
  void aCharacterThatHasNoByteDoesNotBecomeAnother(char character) {
    assertThat(written(HeadWriter.begin().text("a" + character + "b"))).isEqualTo("a?b");
  }

  @Test
  void aPartOfALongerTextIsWrittenAlone() {
    AsciiString part = new AsciiString("xhostx".getBytes(StandardCharsets.US_ASCII), 1, 4, false);
    assertThat(written(HeadWriter.begin().text(part))).isEqualTo("host");
  }

  @Test
  void aHeadMayBeOfAnyLengthAndTheNextIsItsOwn() {
    String value = "v".repeat(70_000);
    HeadWriter head = HeadWriter.begin();
    for (int i = 0; i < 3; i++) {
      head.header("n", value);
    }
    assertThat(written(head)).isEqualTo(("n: " + value + "\r\n").repeat(3));
    assertThat(written(HeadWriter.begin().text("next"))).isEqualTo("next");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 9, 10, 429, 1_000_000, Integer.MAX_VALUE})
  void aNumberIsItsDigits(int number) {
    assertThat(written(HeadWriter.begin().header("content-length", number)))
        .isEqualTo("content-length: " + number + "\r\n");
  }

  @Test
  void thereIsRoomBehindIt() {
    ByteBuf head = HeadWriter.begin().text("head").toBuffer(ByteBufAllocator.DEFAULT, 100);
    assertThat(head.writableBytes()).isGreaterThanOrEqualTo(100);
    head.release();
  }
}
