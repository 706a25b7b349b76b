package dev.sluice.http;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** Writes the parts of a head, RFC 9112 section 2. Values were checked where they were read. */
public final class HeadWriter {
  private HeadWriter() {}

  /** One header line. */
  public static void header(ByteBuf head, CharSequence name, CharSequence value) {
    text(head, name);
    head.writeByte(':').writeByte(' ');
    text(head, value);
    endOfLine(head);
  }

  /** Text as it stands in a head: one byte a character. */
  public static void text(ByteBuf head, CharSequence text) {
    head.writeCharSequence(text, StandardCharsets.ISO_8859_1);
  }

  /** The end of a line; after the last header line once more, as the end of the head. */
  public static void endOfLine(ByteBuf head) {
    head.writeByte('\r').writeByte('\n');
  }
}
