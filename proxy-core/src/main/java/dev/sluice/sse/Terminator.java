package dev.sluice.sse;

import io.netty.buffer.ByteBuf;

/** The line that tells a whole stream of events from one that ended early. */
public enum Terminator {
  /** There is none: a stream that ends in order is whole. */
  NONE(""),
  /** OpenAI Chat Completions: {@code data: [DONE]}. */
  DONE("data: [DONE]"),
  /** Anthropic Messages: {@code event: message_stop}. */
  MESSAGE_STOP("event: message_stop");

  /** The line is another one. */
  static final int OTHER_LINE = -1;

  private final String line;
  private final int space;

  Terminator(String line) {
    this.line = line;
    this.space = line.indexOf(' ');
  }

  /** The line's length, its end not counted and its optional space counted. */
  int length() {
    return line.length();
  }

  /**
   * Compares the next bytes of a line that may come in pieces.
   *
   * @param matched what this returned for the bytes of the line before; 0 at its start
   * @return {@link #length()} where these bytes end the line's match; {@link #OTHER_LINE} where the
   *     line is another one
   */
  int match(int matched, ByteBuf in, int from, int to) {
    int at = matched;
    for (int i = from; i < to; i++) {
      byte b = in.getByte(i);
      if (at == space && b != ' ') {
        at++; // one space behind the colon may be left out
      }
      if (at >= line.length() || line.charAt(at) != b) {
        return OTHER_LINE;
      }
      at++;
    }
    return at;
  }
}
