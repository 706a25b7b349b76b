package dev.sluice.sse;

import dev.sluice.http.BodyFraming;
import io.netty.buffer.ByteBuf;

/**
 * Walks over the framing of one HTTP/1.1 body, RFC 9112 sections 6 and 7, without copying: tells
 * stretches of payload from what lies between them, and where the body ends. Not thread-safe.
 *
 * <p>Call {@link #next} until it needs more bytes. It moves the buffer's reader index over framing;
 * a stretch of payload it leaves to the caller, who moves the index over it and says so with {@link
 * #took}.
 *
 * <table>
 *   <caption>Bounds on chunked bodies; past one the body is malformed</caption>
 *   <tr><th>what</th><th>bound</th></tr>
 *   <tr><td>digits of a chunk size</td><td>16, leading zeros included</td></tr>
 *   <tr><td>a chunk's size</td><td>2<sup>63</sup> - 1 bytes</td></tr>
 *   <tr><td>a chunk's extensions</td><td>{@value #MAX_EXTENSION_BYTES} bytes</td></tr>
 *   <tr><td>all trailers</td><td>{@value #MAX_TRAILER_BYTES} bytes</td></tr>
 * </table>
 */
public final class BodyScanner {
  /** The buffer is used up; more bytes are needed. */
  public static final int MORE = 0;

  /** The body ended; what the buffer still holds is not part of it. */
  public static final int END = -1;

  /** The framing is broken; nothing after this point can be understood. */
  public static final int MALFORMED = -2;

  /** A chunk ended, its line end included: framing may be added here. */
  public static final int CHUNK_END = -3;

  /** Most bytes of the extensions of one chunk, which are passed over. */
  public static final int MAX_EXTENSION_BYTES = 256;

  /** Most bytes of a body's trailers, which are dropped. */
  public static final int MAX_TRAILER_BYTES = 8 << 10;

  private static final int MAX_SIZE_DIGITS = 16;

  private enum State {
    PAYLOAD,
    SIZE,
    EXTENSION,
    SIZE_LF,
    CHUNK_CR,
    CHUNK_LF,
    TRAILER_START,
    TRAILER,
    TRAILER_LF,
    LAST_LF,
    ENDED,
    BROKEN
  }

  private final boolean chunked;
  private final boolean untilClose;
  private State state;
  private long remaining;
  private int digits;
  private int extraBytes;

  /** A scanner for a body with this framing, at its first byte. */
  public BodyScanner(BodyFraming framing) {
    this.chunked = framing.kind() == BodyFraming.Kind.CHUNKED;
    this.untilClose = framing.kind() == BodyFraming.Kind.UNTIL_CLOSE;
    this.remaining =
        switch (framing.kind()) {
          case CHUNKED -> 0;
          case UNTIL_CLOSE -> Long.MAX_VALUE;
          case LENGTH -> framing.length();
        };
    this.state = chunked ? State.SIZE : remaining == 0 ? State.ENDED : State.PAYLOAD;
  }

  /**
   * Moves over framing to what comes next.
   *
   * @return how many bytes of payload stand at the buffer's reader index, at least 1; or {@link
   *     #MORE}, {@link #END}, {@link #MALFORMED}, {@link #CHUNK_END}
   */
  public int next(ByteBuf in) {
    while (true) {
      if (state == State.ENDED) {
        return END;
      }
      if (state == State.BROKEN) {
        return MALFORMED;
      }
      int readable = in.readableBytes();
      if (readable == 0) {
        return MORE;
      }
      if (state == State.PAYLOAD) {
        return (int) Math.min(remaining, readable);
      }
      if (framing(in.readByte())) {
        return CHUNK_END;
      }
    }
  }

  /** The caller took this many bytes of the payload that {@link #next} announced. */
  public void took(int bytes) {
    remaining -= bytes;
    if (remaining == 0) {
      state = chunked ? State.CHUNK_CR : State.ENDED;
    }
  }

  /** How many bytes of payload the current chunk, or a body of known length, still has. */
  public long remaining() {
    return state == State.PAYLOAD ? remaining : 0;
  }

  /** Whether the body has ended. */
  public boolean ended() {
    return state == State.ENDED;
  }

  /** Whether the body ends rightly when the connection ends here. */
  public boolean endsWithConnection() {
    return untilClose || state == State.ENDED;
  }

  /** Takes one byte of framing; true where it was the last byte of a chunk. */
  private boolean framing(byte b) {
    switch (state) {
      case SIZE -> size(b);
      case EXTENSION -> {
        if (b == '\r') {
          state = State.SIZE_LF;
        } else if (isControl(b) || ++extraBytes > MAX_EXTENSION_BYTES) {
          state = State.BROKEN;
        }
      }
      case SIZE_LF -> {
        if (b != '\n') {
          state = State.BROKEN;
        } else {
          extraBytes = 0;
          state = remaining == 0 ? State.TRAILER_START : State.PAYLOAD;
        }
      }
      case CHUNK_CR -> state = b == '\r' ? State.CHUNK_LF : State.BROKEN;
      case CHUNK_LF -> {
        if (b == '\n') {
          beginSize();
          return true;
        }
        state = State.BROKEN;
      }
      case TRAILER_START -> {
        if (b == '\r') {
          state = State.LAST_LF;
        } else {
          trailer(b);
        }
      }
      case TRAILER -> {
        if (b == '\r') {
          state = State.TRAILER_LF;
        } else {
          trailer(b);
        }
      }
      case TRAILER_LF -> state = b == '\n' ? State.TRAILER_START : State.BROKEN;
      case LAST_LF -> state = b == '\n' ? State.ENDED : State.BROKEN;
      case PAYLOAD, ENDED, BROKEN -> throw new IllegalStateException("state: " + state);
    }
    return false;
  }

  private void beginSize() {
    state = State.SIZE;
    remaining = 0;
    digits = 0;
    extraBytes = 0;
  }

  private void size(byte b) {
    int digit = Character.digit(b, 16);
    if (digit >= 0) {
      if (++digits > MAX_SIZE_DIGITS || remaining > Long.MAX_VALUE >> 4) {
        state = State.BROKEN;
      } else {
        remaining = remaining << 4 | digit;
      }
    } else if (digits > 0 && b == '\r') {
      state = State.SIZE_LF;
    } else if (digits > 0 && b == ';') {
      state = State.EXTENSION;
    } else {
      state = State.BROKEN;
    }
  }

  private void trailer(byte b) {
    state = isControl(b) || ++extraBytes > MAX_TRAILER_BYTES ? State.BROKEN : State.TRAILER;
  }

  private static boolean isControl(byte b) {
    return (b >= 0 && b < 0x20 && b != '\t') || b == 0x7F;
  }
}
