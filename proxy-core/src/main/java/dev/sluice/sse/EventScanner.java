package dev.sluice.sse;

import io.netty.buffer.ByteBuf;

/**
 * Finds where server-sent events end in a byte stream that comes in pieces: just behind the empty
 * line (WHATWG HTML, section 9.2.6: a line ends with CR LF, LF or CR); and whether the stream's
 * terminator is among them. Not thread-safe.
 */
public final class EventScanner {
  /*
   * An event ends with the first line end that follows a line end. CR LF is one line end, so behind
   * a CR it is open whether the line has ended with it or only with the LF to come: an event whose
   * empty line ends with a lone CR is taken to end with it, and an LF that follows is no line of its
   * own. Between line ends nothing matters but whether a line began with a colon (a comment) and
   * whether it is the terminator. Lines longer than that, nearly all, are not compared with it.
   */
  private static final long EIGHT_ONES = 0x0101010101010101L;
  private static final long EIGHT_LF = EIGHT_ONES * '\n';
  private static final long EIGHT_CR = EIGHT_ONES * '\r';

  private final Terminator terminator;
  private boolean lineEmpty = true;
  private boolean afterCr;
  private boolean crEndedEvent;
  private boolean hasField;
  private long events;

  /** How far the line under way matches the terminator. */
  private int matched;

  private boolean sawTerminator;
  private boolean terminated;

  /** A scanner at the first byte of a stream that is whole with this line. */
  public EventScanner(Terminator terminator) {
    this.terminator = terminator;
  }

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
          terminated = sawTerminator;
        } else if (matched == terminator.length()) {
          sawTerminator = true;
        }
        afterCr = b == '\r';
        crEndedEvent = lineEmpty;
        lineEmpty = true;
      } else {
        afterCr = false;
        if (lineEmpty) {
          lineEmpty = false;
          hasField |= b != ':';
          matched = 0;
        }
        int start = at - 1;
        at = lineEnd(in, at, to);
        if (matched >= 0) {
          matched =
              at - start > terminator.length() - matched
                  ? Terminator.OTHER_LINE
                  : terminator.match(matched, in, start, at);
        }
      }
    }
    return boundary;
  }

  /** How many events have ended; blocks of comments alone are none. */
  public long events() {
    return events;
  }

  /** Whether the event that the terminator is part of has ended. */
  public boolean isTerminated() {
    return terminated;
  }

  /**
   * Whether the stream is whole if it ends here: its terminator has come, the end of whose line may
   * be missing; or it needs none.
   */
  public boolean mayEnd() {
    return sawTerminator
        || terminator == Terminator.NONE
        || (!lineEmpty && matched == terminator.length());
  }

  /**
   * The index of the first CR or LF, found eight bytes at a time; {@code to} where there is none.
   */
  private static int lineEnd(ByteBuf in, int from, int to) {
    int at = from;
    for (; at <= to - Long.BYTES; at += Long.BYTES) {
      long word = in.getLongLE(at);
      long ends = firstZero(word ^ EIGHT_LF) | firstZero(word ^ EIGHT_CR);
      if (ends != 0) {
        return at + (Long.numberOfTrailingZeros(ends) >>> 3);
      }
    }
    while (at < to) {
      byte b = in.getByte(at);
      if (b == '\n' || b == '\r') {
        return at;
      }
      at++;
    }
    return to;
  }

  /**
   * The high bit of the lowest byte that is zero; bits above it may be set, too, those below not.
   */
  private static long firstZero(long word) {
    return (word - EIGHT_ONES) & ~word & EIGHT_ONES << 7;
  }
}
