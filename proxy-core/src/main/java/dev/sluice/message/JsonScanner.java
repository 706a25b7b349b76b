package dev.sluice.message;

import dev.sluice.error.Reason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;

/**
 * A cursor over one whole JSON document (RFC 8259) in UTF-8. Whatever it passes has been checked:
 * grammar, UTF-8, and the bounds below. Strings are passed without being decoded. One use, one
 * thread.
 *
 * <table>
 *   <caption>Bounds</caption>
 *   <tr><th>what</th><th>at most</th></tr>
 *   <tr><td>objects and arrays open at once</td><td>{@value #MAX_DEPTH}</td></tr>
 *   <tr><td>a number</td><td>{@value #MAX_NUMBER_BYTES} bytes</td></tr>
 *   <tr><td>a name, as it is written</td><td>{@value #MAX_NAME_BYTES} bytes</td></tr>
 * </table>
 */
final class JsonScanner {
  /*
   * Jackson's parser was the other choice. It accepts a second document, an empty body, a byte
   * order mark, UTF-16, overlong UTF-8 and bad bytes in skipped strings, so each of these would
   * need a pass of our own beside it; one scanner that checks them on the way is less code, and
   * reads eight bytes at a time where nothing is special.
   *
   * An escape of half a surrogate pair ("\ud800") is legal by the grammar and passes: only where
   * the text decides something (the model) is it refused.
   */

  static final int MAX_DEPTH = 256;
  static final int MAX_NUMBER_BYTES = 1_000;
  static final int MAX_NAME_BYTES = 4_096;

  /** What {@link #next} says where nothing is left. */
  static final int END = -1;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long EACH = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;

  /** Longer than any name that means something to Sluice. */
  private static final int MAX_KNOWN_NAME_CHARS = 32;

  private static final int LONG_STRING_BYTES = 256;

  /** Longer than what stands before the data in a usual data URL. */
  private static final int BEFORE_BASE64_BYTES = 128;

  private final byte[] bytes;
  private final int start;
  private final int end;
  private int at;
  private int depth;

  /** The last string that was passed, without its quotes. */
  private int textStart;

  private int textEnd;

  /** The last long string that was passed: passing it again takes no second look. */
  private int longStart = END;

  private int longEnd = END;

  /** The last stretch that was found to be base64 and nothing else. */
  private int base64Start;

  private int base64End;

  JsonScanner(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    this.bytes = bytes;
    this.start = offset;
    this.end = offset + length;
    this.at = offset;
  }

  // Where the cursor is.

  byte[] bytes() {
    return bytes;
  }

  /** The index in {@link #bytes} of the next byte to be read. */
  int at() {
    return at;
  }

  /** Goes back to a value that was passed before. */
  void rewind(int index) {
    at = index;
  }

  int textStart() {
    return textStart;
  }

  int textEnd() {
    return textEnd;
  }

  /** Where the last stretch begins that was found to be base64 without padding or escapes. */
  int base64Start() {
    return base64Start;
  }

  int base64End() {
    return base64End;
  }

  /** Passes white space; the byte after it, which is not passed, or {@link #END}. */
  int next() {
    while (at < end) {
      byte b = bytes[at];
      if (b > ' ' || (b != ' ' && b != '\n' && b != '\r' && b != '\t')) {
        return b & 0xff;
      }
      at++;
    }
    return END;
  }

  /** The type of the next value, from its first byte; a number is both kinds of number. */
  int nextType() {
    return switch (next()) {
      case '"' -> JsonType.STRING;
      case '{' -> JsonType.OBJECT;
      case '[' -> JsonType.ARRAY;
      case 't', 'f' -> JsonType.BOOLEAN;
      case 'n' -> JsonType.NULL;
      case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> JsonType.NUMBER;
      default -> throw malformed("a value");
    };
  }

  // Walking. for (boolean more = in.enter(); more; more = in.more('}')) { in.name(); in.value(); }

  /** Passes the bracket that opens an object or array; whether a first member follows. */
  boolean enter() {
    int close = bytes[at] == '{' ? '}' : ']';
    if (depth == MAX_DEPTH) {
      throw new Refused(
          Reason.JSON_MALFORMED,
          "body: nested too deep at byte " + (at - start) + " (expected: <= " + MAX_DEPTH + ")");
    }
    depth++;
    at++;
    if (next() == close) {
      return leave();
    }
    return true;
  }

  /**
   * Passes what stands after a member: a comma, or the bracket that closes; whether one follows.
   */
  boolean more(int close) {
    int b = next();
    if (b == ',') {
      at++;
      return true;
    }
    if (b == close) {
      return leave();
    }
    throw malformed("\",\" or \"" + (char) close + "\"");
  }

  private boolean leave() {
    at++;
    depth--;
    return false;
  }

  /**
   * Passes a name and its colon; the name unescaped, or empty where it is longer than any known.
   */
  String name() {
    passName();
    return textEnd - textStart <= 6 * MAX_KNOWN_NAME_CHARS ? text(MAX_KNOWN_NAME_CHARS + 1) : "";
  }

  /** Passes a name and its colon; the hash of the name as it is written. */
  long nameHash() {
    passName();
    long hash = Usage.Members.NO_BYTES;
    for (int i = textStart; i < textEnd; i++) {
      hash = Usage.Members.hash(hash, bytes[i]);
    }
    return hash;
  }

  private void passName() {
    if (next() != '"') {
      throw malformed("a name in double quotes");
    }
    string();
    if (textEnd - textStart > MAX_NAME_BYTES) {
      throw new Refused(
          Reason.JSON_MALFORMED,
          "body: a name of "
              + (textEnd - textStart)
              + " bytes at byte "
              + (textStart - start)
              + " (expected: <= "
              + MAX_NAME_BYTES
              + ")");
    }
    if (next() != ':') {
      throw malformed("\":\"");
    }
    at++;
  }

  /** Passes any value; its type. */
  int value() {
    int type = nextType();
    switch (type) {
      case JsonType.STRING -> string();
      case JsonType.NUMBER -> type = number();
      case JsonType.OBJECT -> {
        for (boolean more = enter(); more; more = more('}')) {
          passName();
          value();
        }
      }
      case JsonType.ARRAY -> {
        for (boolean more = enter(); more; more = more(']')) {
          value();
        }
      }
      default -> literal();
    }
    return type;
  }

  /** Refuses anything but white space from here to the end. */
  void end() {
    if (next() != END) {
      throw malformed("nothing after the object");
    }
  }

  private void literal() {
    byte first = bytes[at];
    String word = first == 't' ? "true" : first == 'f' ? "false" : "null";
    int from = at;
    for (int i = 0; i < word.length(); i++, at++) {
      if (at == end || bytes[at] != word.charAt(i)) {
        at = from;
        throw malformed("true, false, null, a number, a string, an object or an array");
      }
    }
  }

  // Numbers.

  /**
   * Passes a number; its value where it is written in digits alone and is at most {@link
   * Integer#MAX_VALUE} or so; else -1.
   */
  long wholeNumber() {
    int from = at;
    number();
    long value = 0;
    for (int i = from; i < at; i++) {
      if (bytes[i] < '0' || bytes[i] > '9' || value > Integer.MAX_VALUE / 10) {
        return -1;
      }
      value = 10 * value + (bytes[i] - '0');
    }
    return value;
  }

  private int number() {
    int from = at;
    if (bytes[at] == '-') {
      at++;
    }
    if (at < end && bytes[at] == '0') {
      at++;
    } else {
      digits(from);
    }
    int fractionDigits = 0;
    if (at < end && bytes[at] == '.') {
      int point = at++;
      digits(from);
      int last = at - 1;
      while (bytes[last] == '0') {
        last--;
      }
      fractionDigits = last - point;
    }
    int exponent = 0;
    if (at < end && (bytes[at] | 0x20) == 'e') {
      at++;
      boolean negative = at < end && bytes[at] == '-';
      if (negative || (at < end && bytes[at] == '+')) {
        at++;
      }
      int first = at;
      digits(from);
      for (int i = first; i < at && exponent < MAX_NUMBER_BYTES; i++) {
        exponent = 10 * exponent + (bytes[i] - '0');
      }
      exponent = negative ? -exponent : exponent;
    }
    return fractionDigits <= exponent ? JsonType.INTEGER : JsonType.FRACTION;
  }

  /** Passes one digit or more of the number that began at an index. */
  private void digits(int from) {
    int first = at;
    int limit = (int) Math.min(end, from + MAX_NUMBER_BYTES + 1L);
    while (at < limit && bytes[at] >= '0' && bytes[at] <= '9') {
      at++;
    }
    if (at == first) {
      throw malformed("a digit");
    }
    if (at - from > MAX_NUMBER_BYTES) {
      throw new Refused(
          Reason.JSON_MALFORMED,
          "body: a number too long at byte "
              + (from - start)
              + " (expected: <= "
              + MAX_NUMBER_BYTES
              + " bytes)");
    }
  }

  // Strings.

  /** Passes a string; {@link #textStart} and {@link #textEnd} say where its text is. */
  void string() {
    textStart = ++at;
    if (textStart == longStart) {
      textEnd = longEnd;
      at = longEnd + 1;
      return;
    }
    passPlain(Math.min(end - at, BEFORE_BASE64_BYTES));
    if (at - textStart == BEFORE_BASE64_BYTES) {
      passBase64();
    }
    while (true) {
      passPlain(end - at);
      if (at >= end) {
        throw malformed("\"\\\"\" at the end of a string");
      }
      byte b = bytes[at];
      if (b == '"') {
        textEnd = at++;
        if (textEnd - textStart >= LONG_STRING_BYTES) {
          longStart = textStart;
          longEnd = textEnd;
        }
        return;
      }
      if (b == '\\') {
        passEscape();
      } else if (b < 0) {
        passMultibyte();
      } else {
        throw malformed("no control character in a string, but its escape");
      }
    }
  }

  /** Passes what needs no second look where it should be an image's data. */
  private void passBase64() {
    int behind = Base64Blocks.pass(bytes, at, end);
    if (behind > at) {
      base64Start = at;
      base64End = behind;
      at = behind;
    }
  }

  /**
   * Passes ASCII up to the first quote, backslash, control character, or byte over 0x7F; at most so
   * many bytes.
   */
  private void passPlain(int most) {
    int limit = at + most;
    int i = at;
    for (; i <= limit - Long.BYTES; i += Long.BYTES) {
      long eight = (long) LONG.get(bytes, i);
      // The lowest byte that is flagged is special; bytes above it may be flagged by a borrow.
      long special =
          (eight
                  | (eight - ' ' * EACH)
                  | ((eight ^ '"' * EACH) - EACH)
                  | ((eight ^ '\\' * EACH) - EACH))
              & HIGH_BITS;
      if (special != 0) {
        at = i + (Long.numberOfTrailingZeros(special) >>> 3);
        return;
      }
    }
    while (i < limit && bytes[i] >= ' ' && bytes[i] != '"' && bytes[i] != '\\') {
      i++;
    }
    at = i;
  }

  private void passEscape() {
    int b = at + 1 < end ? bytes[at + 1] : END;
    switch (b) {
      case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> at += 2;
      case 'u' -> {
        for (int i = at + 2; i < at + 6; i++) {
          if (i >= end || Character.digit(bytes[i], 16) < 0) {
            at = Math.min(i, end);
            throw malformed("four hexadecimal digits after \\u");
          }
        }
        at += 6;
      }
      default -> {
        at++;
        throw malformed("one of \"\\/bfnrtu after a backslash");
      }
    }
  }

  /** Passes characters of two to four bytes, by the table of well-formed UTF-8 (Unicode 3.9). */
  private void passMultibyte() {
    while (at < end && bytes[at] < 0) {
      int lead = bytes[at] & 0xff;
      int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      if (lead < 0xc2 || lead > 0xf4 || end - at < length) {
        throw malformed("valid UTF-8");
      }
      int second = bytes[at + 1] & 0xff;
      int least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
      int most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
      if (second < least
          || second > most
          || (length > 2 && bytes[at + 2] >= (byte) 0xc0)
          || (length > 3 && bytes[at + 3] >= (byte) 0xc0)) {
        throw malformed("valid UTF-8");
      }
      at += length;
    }
  }

  /**
   * The text of the last string, unescaped; of a longer one its first {@code maxChars} characters.
   */
  String text(int maxChars) {
    String known = KnownWord.at(bytes, textStart, textEnd);
    if (known != null && known.length() <= maxChars) {
      return known;
    }
    // No character is written in more than six bytes; one more, which the cut may have broken.
    int cut = (int) Math.min(textEnd, textStart + 6L * (maxChars + 1));
    int i = nextBackslash(textStart, cut);
    if (i == cut) {
      String text = new String(bytes, textStart, cut - textStart, StandardCharsets.UTF_8);
      return text.length() <= maxChars ? text : text.substring(0, maxChars);
    }
    StringBuilder text = new StringBuilder();
    int run = textStart;
    while (i < cut) {
      text.append(new String(bytes, run, i - run, StandardCharsets.UTF_8));
      text.append(unescape(bytes, i));
      run = i + escapeLength(bytes, i);
      i = nextBackslash(run, cut);
    }
    if (run < cut) {
      text.append(new String(bytes, run, cut - run, StandardCharsets.UTF_8));
    }
    text.setLength(Math.min(text.length(), maxChars));
    return text.toString();
  }

  /** Whether the text of the last string is this, written without escapes. */
  boolean textIs(byte[] text) {
    return Arrays.equals(bytes, textStart, textEnd, text, 0, text.length);
  }

  private int nextBackslash(int from, int to) {
    int i = from;
    while (i < to && bytes[i] != '\\') {
      i++;
    }
    return i;
  }

  /** What the escape at an index stands for; the escape was checked before. */
  static char unescape(byte[] bytes, int index) {
    byte kind = bytes[index + 1];
    return switch (kind) {
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> {
        int unit = 0;
        for (int i = index + 2; i < index + 6; i++) {
          unit = unit << 4 | Character.digit(bytes[i], 16);
        }
        yield (char) unit;
      }
      default -> (char) kind;
    };
  }

  /** How many bytes the escape at an index takes. */
  static int escapeLength(byte[] bytes, int index) {
    return bytes[index + 1] == 'u' ? 6 : 2;
  }

  /** The document breaks the grammar at the cursor. */
  Refused malformed(String expected) {
    String found;
    if (at >= end) {
      found = "ends";
    } else if (bytes[at] > ' ' && bytes[at] < 0x7f) {
      found = "\"" + (char) bytes[at] + "\"";
    } else {
      found = String.format(Locale.ROOT, "0x%02X", bytes[at] & 0xff);
    }
    return new Refused(
        Reason.JSON_MALFORMED,
        "body: " + found + " at byte " + (at - start) + " (expected: " + expected + ")");
  }
}
