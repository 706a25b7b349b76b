package dev.sluice.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Arrays;

/**
 * Writes a head, RFC 9112 section 2. Values were checked where they were read. Each thread has one,
 * which writes one head after another.
 */
public final class HeadWriter {
  /*
   * A head has some thirty parts, and a buffer checks its bounds and its references for each byte of
   * a text that is put into it. So the head is put together in an array and copied once.
   */
  private static final FastThreadLocal<HeadWriter> OF_THREAD =
      new FastThreadLocal<>() {
        @Override
        protected HeadWriter initialValue() {
          return new HeadWriter();
        }
      };

  /** What is kept for the next head; a larger one has an array of its own. */
  private static final int KEPT_BYTES = 4 << 10;

  private final byte[] kept = new byte[KEPT_BYTES];
  private byte[] bytes = kept;
  private int length;

  private HeadWriter() {}

  /** The thread's writer, at the beginning of a head. */
  public static HeadWriter begin() {
    HeadWriter writer = OF_THREAD.get();
    writer.bytes = writer.kept;
    writer.length = 0;
    return writer;
  }

  /** One header line. */
  public HeadWriter header(CharSequence name, CharSequence value) {
    return text(name).pair(':', ' ').text(value).endOfLine();
  }

  /** One header line whose value is a number from 0 on. */
  public HeadWriter header(CharSequence name, int value) {
    return text(name).pair(':', ' ').number(value).endOfLine();
  }

  /** Text as it stands in a head: one byte a character; a question mark for one that has none. */
  public HeadWriter text(CharSequence text) {
    int count = text.length();
    makeRoom(count);
    if (text instanceof AsciiString ascii) {
      System.arraycopy(ascii.array(), ascii.arrayOffset(), bytes, length, count);
    } else {
      characters(text.toString(), count);
    }
    length += count;
    return this;
  }

  /** By itself, and not by {@link String#getBytes}, which makes an array for each text. */
  private void characters(String text, int count) {
    byte[] to = bytes;
    int at = length;
    for (int i = 0; i < count; i++) {
      char character = text.charAt(i);
      // Never its low byte alone: that may be a line end.
      to[at + i] = (byte) (character <= 0xFF ? character : '?');
    }
  }

  /** The end of a line; after the last header line once more, as the end of the head. */
  public HeadWriter endOfLine() {
    return pair('\r', '\n');
  }

  /** A number from 0 on, in decimal digits. */
  public HeadWriter number(int number) {
    int digits = 1;
    for (int rest = number; rest >= 10; rest /= 10) {
      digits++;
    }
    makeRoom(digits);
    int rest = number;
    for (int at = length + digits - 1; at >= length; at--, rest /= 10) {
      bytes[at] = (byte) ('0' + rest % 10);
    }
    length += digits;
    return this;
  }

  private HeadWriter pair(char first, char second) {
    makeRoom(2);
    bytes[length++] = (byte) first;
    bytes[length++] = (byte) second;
    return this;
  }

  private void makeRoom(int count) {
    if (bytes.length - length < count) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
    }
  }

  /**
   * What was written, as a buffer.
   *
   * @param room how many bytes may be written behind it without making it larger
   */
  public ByteBuf toBuffer(ByteBufAllocator alloc, int room) {
    return alloc.directBuffer(length + room).writeBytes(bytes, 0, length);
  }
}
