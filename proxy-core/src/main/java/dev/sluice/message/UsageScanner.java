package dev.sluice.message;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Finds what a stream of events says of tokens while its bytes pass, in pieces cut anywhere: the
 * objects named {@code usage}, wherever they stand in an event's JSON. It keeps no bytes, and no
 * bytes make it throw. Not thread-safe.
 *
 * <table>
 *   <caption>Bounds; an object past one tells nothing</caption>
 *   <tr><td>its length</td><td>{@value #MAX_OBJECT_BYTES} bytes, on one line</td></tr>
 *   <tr><td>a number</td><td>{@value Usage#MAX_TOKENS}</td></tr>
 * </table>
 */
public final class UsageScanner {
  /*
   * Nearly all events of a stream have no usage, or "usage":null, so what counts is how soon that is
   * known. The name is looked for eight bytes at a time by its rarest letter. What a model wrote is
   * no danger: within a string a quote is written \", so the name with both its quotes and a colon
   * behind it is a member's name.
   *
   * Only from there on bytes are read one by one, until the object ends. What it says counts when it
   * has ended well: a part of one is no statement. Escapes in names and values are passed over, not
   * read.
   */
  /** The longest object that is read. */
  static final int MAX_OBJECT_BYTES = 4096;

  private static final byte[] NAME = {'"', 'u', 's', 'a', 'g', 'e', '"'};
  private static final int NAME_HEAD = '"' | 'u' << 8 | 's' << 16 | 'a' << 24;
  private static final int NAME_TAIL = 'a' | 'g' << 8 | 'e' << 16 | '"' << 24;
  private static final int TAIL_AT = 3;
  private static final int RAREST_AT = 4;
  private static final long EACH = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;

  private enum State {
    /** Looking for the name. */
    SEARCH,
    /** Behind the name. */
    COLON,
    /** Behind its colon. */
    OPEN,
    /** In the object, before a member or its end. */
    MEMBER,
    MEMBER_NAME,
    MEMBER_COLON,
    VALUE,
    NUMBER,
    /** In a value that tells nothing and is no string, object or array. */
    OTHER,
    STRING,
    /** In an object or array within the object. */
    NESTED,
    /** Behind a value. */
    AFTER
  }

  // There are none until a usage object is met: most of a stream's life, if ever.
  private Usage.@Nullable Members known;
  private Usage.@Nullable Members members;
  private State state = State.SEARCH;
  private boolean changed;

  /** How much of the name the bytes before end with. */
  private int matched;

  private boolean escaped;
  private int objectBytes;
  private int depth;
  private long nameHash;
  private long number;

  /** A scanner at the first byte of a stream. */
  public UsageScanner() {}

  /** Looks at the next bytes of the stream, which stay where they are. */
  public void scan(ByteBuf in, int from, int length) {
    int to = from + length;
    int at = from;
    while (at < to) {
      at = state == State.SEARCH ? search(in, at, to) : read(in, at, to);
    }
  }

  /** Whether something new was found since {@link #usage} was asked last. */
  public boolean hasChanged() {
    return changed;
  }

  /** What the stream has said so far. */
  public Usage usage() {
    changed = false;
    return known == null ? Usage.NONE : known.usage();
  }

  /** Looks for the name; the index behind it, or behind the last byte. */
  private int search(ByteBuf in, int from, int to) {
    int at = from;
    while (matched > 0 && at < to) {
      byte b = in.getByte(at++);
      if (b != NAME[matched]) {
        matched = b == NAME[0] ? 1 : 0;
      } else if (++matched == NAME.length) {
        return found(at);
      }
    }
    if (at == to) {
      return to;
    }
    int last = to - Long.BYTES;
    for (int i = at; i <= last; i += Long.BYTES) {
      long rest = rarest(in.getLongLE(i));
      while (rest != 0) {
        int start = i + (Long.numberOfTrailingZeros(rest) >>> 3) - RAREST_AT;
        if (isName(in, start, at, to)) {
          return found(start + NAME.length);
        }
        rest &= rest - 1;
      }
    }
    int tail = at + ((to - at) & -Long.BYTES);
    for (int i = tail; i < to; i++) {
      if (isName(in, i - RAREST_AT, at, to)) {
        return found(i - RAREST_AT + NAME.length);
      }
    }
    matched = matchedAtEnd(in, at, to);
    return to;
  }

  /**
   * The high bits of the bytes that are the name's rarest letter; perhaps of some above the first.
   */
  private static long rarest(long eight) {
    long x = eight ^ 'g' * EACH;
    return (x - EACH) & ~x & HIGH_BITS;
  }

  private static boolean isName(ByteBuf in, int start, int from, int to) {
    return start >= from
        && start + NAME.length <= to
        && in.getIntLE(start) == NAME_HEAD
        && in.getIntLE(start + TAIL_AT) == NAME_TAIL;
  }

  private int found(int behind) {
    matched = 0;
    state = State.COLON;
    return behind;
  }

  private static int matchedAtEnd(ByteBuf in, int from, int to) {
    if (in.getByte(to - 1) == '\n') {
      return 0; // nearly always: an event has ended
    }
    for (int start = Math.max(from, to - NAME.length + 1); start < to; start++) {
      int length = 0;
      while (start + length < to && in.getByte(start + length) == NAME[length]) {
        length++;
      }
      if (start + length == to) {
        return length;
      }
    }
    return 0;
  }

  /** Reads what stands behind the name; the index of the first byte that was not read. */
  private int read(ByteBuf in, int from, int to) {
    int at = from;
    while (at < to && state != State.SEARCH) {
      byte b = in.getByte(at);
      if ((b >= 0 && b < ' ' && b != '\t') || ++objectBytes > MAX_OBJECT_BYTES) {
        leave();
      } else if (state == State.COLON || state == State.OPEN) {
        if (!before(b)) {
          return at; // it may begin the name
        }
      } else {
        within(b);
      }
      at++;
    }
    return at;
  }

  private boolean before(byte b) {
    if (isSpace(b)) {
      return true;
    }
    if (state == State.COLON && b == ':') {
      state = State.OPEN;
      return true;
    }
    if (state == State.OPEN && b == '{') {
      if (members == null) {
        members = new Usage.Members();
      }
      state = State.MEMBER;
      return true;
    }
    leave();
    return false;
  }

  private void within(byte b) {
    switch (state) {
      case MEMBER -> {
        if (b == '"') {
          nameHash = Usage.Members.NO_BYTES;
          state = State.MEMBER_NAME;
        } else if (b == '}') {
          end();
        } else if (!isSpace(b)) {
          leave();
        }
      }
      case MEMBER_NAME -> {
        if (endsString(b)) {
          state = State.MEMBER_COLON;
        } else {
          nameHash = Usage.Members.hash(nameHash, b);
        }
      }
      case MEMBER_COLON -> {
        if (b == ':') {
          state = State.VALUE;
        } else if (!isSpace(b)) {
          leave();
        }
      }
      case VALUE -> value(b);
      case NUMBER -> number(b);
      case OTHER, AFTER -> after(b);
      case STRING -> {
        if (endsString(b)) {
          state = depth == 0 ? State.AFTER : State.NESTED;
        }
      }
      case NESTED -> nested(b);
      case SEARCH, COLON, OPEN -> throw new IllegalStateException("state: " + state);
    }
  }

  private void value(byte b) {
    if (b == '"') {
      state = State.STRING;
    } else if (b == '{' || b == '[') {
      depth = 1;
      state = State.NESTED;
    } else if (isDigit(b)) {
      number = (long) b - '0';
      state = State.NUMBER;
    } else if (b == ',' || b == '}') {
      leave();
    } else if (!isSpace(b)) {
      state = State.OTHER;
    }
  }

  private void number(byte b) {
    if (isDigit(b)) {
      number = Math.min(10 * number + b - '0', Usage.MAX_TOKENS + 1);
    } else if (b == ',' || b == '}' || isSpace(b)) {
      members().put(nameHash, number);
      state = State.AFTER;
      after(b);
    } else {
      state = State.OTHER;
    }
  }

  private void after(byte b) {
    if (b == ',') {
      state = State.MEMBER;
    } else if (b == '}') {
      end();
    } else if (state == State.AFTER && !isSpace(b)) {
      leave();
    }
  }

  private void nested(byte b) {
    if (b == '"') {
      state = State.STRING;
    } else if (b == '{' || b == '[') {
      depth++;
    } else if ((b == '}' || b == ']') && --depth == 0) {
      state = State.AFTER;
    }
  }

  private boolean endsString(byte b) {
    if (escaped) {
      escaped = false;
      return false;
    }
    escaped = b == '\\';
    return b == '"';
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  private static boolean isSpace(byte b) {
    return b == ' ' || b == '\t';
  }

  /** The object has ended well. */
  private void end() {
    if (known == null) {
      known = new Usage.Members();
    }
    known.putAll(members());
    changed = true;
    leave();
  }

  private void leave() {
    state = State.SEARCH;
    if (members != null) {
      members.clear();
    }
    objectBytes = 0;
    depth = 0;
    escaped = false;
  }

  private Usage.Members members() {
    if (members == null) {
      throw new IllegalStateException("state: " + state + " (expected: within an object)");
    }
    return members;
  }
}
