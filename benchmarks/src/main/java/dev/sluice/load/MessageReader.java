package dev.sluice.load;

import io.netty.buffer.ByteBuf;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Reads HTTP/1.1 messages that come in any pieces, one after the other. For messages of programs
 * under measurement: what they never send is not known here, and refused. Not thread-safe.
 */
abstract class MessageReader {
  private static final int MAX_LINE_BYTES = 1 << 10;

  private enum State {
    START_LINE,
    HEADER,
    BODY,
    CHUNK_SIZE,
    CHUNK,
    CHUNK_END,
    TRAILER
  }

  private final byte[] line = new byte[MAX_LINE_BYTES];
  private int lineLength;
  private State state = State.START_LINE;
  private boolean chunked;
  private long remaining;

  /** A message begins. */
  abstract void startLine(String text) throws ProtocolException;

  /** One header; the name is in lower case. */
  abstract void header(String name, String value) throws ProtocolException;

  /** Payload of the body, which stays in the buffer. */
  abstract void payload(ByteBuf in, int from, int length) throws ProtocolException;

  /** The message has ended. */
  abstract void end();

  /** Whether the next byte is a message's first. */
  boolean isBetweenMessages() {
    return state == State.START_LINE && lineLength == 0;
  }

  /**
   * Reads all bytes of the buffer.
   *
   * @throws ProtocolException where they are no message that is known here
   */
  final void read(ByteBuf in) throws ProtocolException {
    while (in.isReadable()) {
      if (state == State.BODY || state == State.CHUNK) {
        int length = (int) Math.min(remaining, in.readableBytes());
        payload(in, in.readerIndex(), length);
        in.skipBytes(length);
        remaining -= length;
        if (remaining == 0) {
          if (state == State.BODY) {
            ended();
          } else {
            state = State.CHUNK_END;
          }
        }
      } else if (takeLine(in)) {
        String text = new String(line, 0, lineLength, StandardCharsets.ISO_8859_1);
        lineLength = 0;
        line(text);
      }
    }
  }

  /** Adds to the line under way; true where it has ended, its CR LF not counted. */
  private boolean takeLine(ByteBuf in) throws ProtocolException {
    int lf = in.indexOf(in.readerIndex(), in.writerIndex(), (byte) '\n');
    int length = (lf < 0 ? in.writerIndex() : lf) - in.readerIndex();
    if (lineLength + length > MAX_LINE_BYTES) {
      throw new ProtocolException("line: too long (expected: <= " + MAX_LINE_BYTES + " bytes)");
    }
    in.readBytes(line, lineLength, length);
    lineLength += length;
    if (lf < 0) {
      return false;
    }
    in.skipBytes(1);
    if (lineLength == 0 || line[--lineLength] != '\r') {
      throw new ProtocolException("line: ends with a bare LF (expected: CR LF)");
    }
    return true;
  }

  private void line(String text) throws ProtocolException {
    switch (state) {
      case START_LINE -> {
        chunked = false;
        remaining = 0;
        state = State.HEADER;
        startLine(text);
      }
      case HEADER -> {
        if (text.isEmpty()) {
          headEnded();
        } else {
          header(text);
        }
      }
      case CHUNK_SIZE -> {
        remaining = number(text.split(";", 2)[0], 16);
        state = remaining == 0 ? State.TRAILER : State.CHUNK;
      }
      case CHUNK_END -> {
        if (!text.isEmpty()) {
          throw new ProtocolException("chunk: longer than it said (expected: CR LF behind it)");
        }
        state = State.CHUNK_SIZE;
      }
      case TRAILER -> {
        if (text.isEmpty()) {
          ended();
        }
      }
      case BODY, CHUNK -> throw new IllegalStateException("a body has no lines");
    }
  }

  private void header(String text) throws ProtocolException {
    int colon = text.indexOf(':');
    if (colon < 1) {
      throw new ProtocolException("header: without a name (expected: name: value)");
    }
    String name = text.substring(0, colon).toLowerCase(Locale.ROOT);
    String value = text.substring(colon + 1).trim();
    if (name.equals("content-length")) {
      remaining = number(value, 10);
    } else if (name.equals("transfer-encoding")) {
      chunked = true;
    }
    header(name, value);
  }

  private void headEnded() {
    if (chunked) {
      state = State.CHUNK_SIZE;
    } else if (remaining > 0) {
      state = State.BODY;
    } else {
      ended();
    }
  }

  private void ended() {
    state = State.START_LINE;
    end();
  }

  private static long number(String digits, int radix) throws ProtocolException {
    try {
      return Long.parseLong(digits.trim(), radix);
    } catch (NumberFormatException e) {
      throw new ProtocolException("length: " + digits + " (expected: a number)");
    }
  }
}
