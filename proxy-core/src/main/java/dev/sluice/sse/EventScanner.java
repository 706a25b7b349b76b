package dev.sluice.sse;

import io.netty.buffer.ByteBuf;
import io.netty.util.ByteProcessor;

/**
 * Finds where server-sent events end in a byte stream that comes in pieces: just behind the empty
 * line (WHATWG HTML, section 9.2.6: a line ends with CR LF, LF or CR). Not thread-safe.
 */
public final class EventScanner {
  /*
   * An event ends with the first line end that follows a line end. CR LF is one line end, so behind
   * a CR it is open whether the line has ended with it or only with the LF to come: an event whose
   * empty line ends with a lone CR is taken to end with it, and an LF that follows is no line of its
   * own. Between line ends nothing matters but whether a line began with a colon (a comment).
   */
  private boolean lineEmpty = true;
  private boolean afterCr;
  private boolean crEndedEvent;
  private boolean hasField;
  private long events;

  /**
   * Looks at the next bytes of the stream.
   *
   * @param from index of the first byte
   * @param length how many bytes to look at
   * @return the index just behind the last event that ends in these bytes; -1 where none does
   */
  public int scan(ByteBuf in, int from, int length) {
    int boundary = -1;
    int to = from + length;
    int at = from;
    while (at < to) {
      byte b = in.getByte(at++);
      if (b == '\n' && afterCr) {
        afterCr = false;
        if (crEndedEvent) {
          boundary = at;
        }
      } else if (b == '\n' || b == '\r') {
        if (lineEmpty) {
          boundary = at;
          events += hasField ? 1 : 0;
          hasField = false;
        }
        afterCr = b == '\r';
        crEndedEvent = lineEmpty;
        lineEmpty = true;
      } else {
        afterCr = false;
        if (lineEmpty) {
          lineEmpty = false;
          hasField |= b != ':';
        }
        at = lineEnd(in, at, to);
      }
    }
    return boundary;
  }

  /** How many events have ended; blocks of comments alone are none. */
  public long events() {
    return events;
  }

  private static int lineEnd(ByteBuf in, int from, int to) {
    int end = in.forEachByte(from, to - from, ByteProcessor.FIND_CRLF);
    return end < 0 ? to : end;
  }
}
