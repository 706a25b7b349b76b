package dev.sluice.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;

/** Texts as buffers and back, a character a byte. The buffers are watched for leaks. */
public final class Bytes {
  private Bytes() {}

  /** A buffer with these bytes. */
  public static ByteBuf of(String text) {
    ByteBuf bytes = ByteBufAllocator.DEFAULT.buffer(Math.max(1, text.length()));
    bytes.writeCharSequence(text, StandardCharsets.ISO_8859_1);
    return bytes;
  }

  /** What is readable; the buffer is released. */
  public static String text(ByteBuf bytes) {
    try {
      return bytes.toString(StandardCharsets.ISO_8859_1);
    } finally {
      bytes.release();
    }
  }
}
