package dev.sluice.message;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules of an image: a base64 data URL (RFC 2397), or the same two facts apart. All work on the
 * text of a JSON string where it stands in the body, which has passed the {@link JsonScanner};
 * image data are never copied. Each says what is wrong, or null.
 */
final class Images {
  /*
   * Base64 by RFC 4648 section 4: no line breaks, padding required. Section 3.5 lets a decoder
   * refuse bits that are not zero before the padding; they pass here, because common decoders
   * ignore them and the contract asks for alphabet and padding alone.
   */

  static final String URL_FORM = "data:image/<subtype>;base64,<data>";

  /** What stands before the data is refused past so many characters. */
  static final int MAX_HEADER_CHARS = 256;

  private static final String IMAGE_TYPE =
      "image/[a-z0-9!#$&^_.+-]+(?:;[a-z0-9!#$&^_.+-]+=[!-+--:<-~]*)*";
  private static final Pattern MEDIA_TYPE = Pattern.compile(IMAGE_TYPE, Pattern.CASE_INSENSITIVE);
  private static final Pattern HEADER =
      Pattern.compile("data:" + IMAGE_TYPE + ";base64", Pattern.CASE_INSENSITIVE);
  private static final Pattern WEB_URL = Pattern.compile("https?:", Pattern.CASE_INSENSITIVE);

  /** Two bytes as one index: half the look-ups of one byte at a time. */
  private static final VarHandle PAIR =
      MethodHandles.byteArrayViewVarHandle(char[].class, ByteOrder.LITTLE_ENDIAN);

  /** For each pair of bytes: 0 where both are of the alphabet. */
  private static final byte[] NOT_ALPHABET = new byte[1 << 16];

  static {
    for (int pair = 0; pair < NOT_ALPHABET.length; pair++) {
      NOT_ALPHABET[pair] = (byte) (isAlphabet(pair & 0xff) && isAlphabet(pair >>> 8) ? 0 : 1);
    }
  }

  private Images() {}

  /** Why the last string that was passed is not a base64 data URL of an image. */
  static @Nullable String dataUrlFault(JsonScanner in) {
    byte[] bytes = in.bytes();
    int to = in.textEnd();
    StringBuilder header = new StringBuilder(32);
    int i = in.textStart();
    while (i < to && header.length() <= MAX_HEADER_CHARS) {
      boolean escape = bytes[i] == '\\';
      char c = escape ? JsonScanner.unescape(bytes, i) : (char) (bytes[i] & 0xff);
      i += escape ? JsonScanner.escapeLength(bytes, i) : 1;
      if (c == ',' && HEADER.matcher(header).matches()) {
        return base64Fault(in, i);
      }
      header.append(c);
      if (c == ',') {
        break;
      }
    }
    boolean link = WEB_URL.matcher(header).lookingAt();
    return "not a base64 data URL"
        + (link ? ", but a link, which is not fetched" : "")
        + " (expected: "
        + URL_FORM
        + (link ? ", the image itself)" : ")");
  }

  /** Why a text is not the media type of an image. */
  static @Nullable String mediaTypeFault(String mediaType) {
    return mediaType.length() <= MAX_HEADER_CHARS && MEDIA_TYPE.matcher(mediaType).matches()
        ? null
        : "not the media type of an image (expected: image/<subtype>)";
  }

  /** Why the last string that was passed is not base64 data. */
  static @Nullable String base64Fault(JsonScanner in) {
    return base64Fault(in, in.textStart());
  }

  /** Why the text from here to the end of the last string is not base64 data. */
  private static @Nullable String base64Fault(JsonScanner in, int from) {
    byte[] bytes = in.bytes();
    int to = in.textEnd();
    long digits = 0;
    int padding = 0;
    int i = from;
    while (i < to) {
      if (padding == 0) {
        int run = i;
        i = passAlphabet(in, i, to);
        digits += i - run;
        if (i == to) {
          break;
        }
      }
      boolean escape = bytes[i] == '\\';
      int c = escape ? JsonScanner.unescape(bytes, i) : bytes[i];
      if (c == '=') {
        padding++;
      } else if (padding > 0) {
        return "not base64: data after the padding (expected: \"=\" at the end alone)";
      } else if (isAlphabet(c)) {
        digits++;
      } else {
        return "not base64 at character "
            + digits
            + " of the data (expected: A-Z, a-z, 0-9, \"+\" and \"/\", without line breaks)";
      }
      i += escape ? JsonScanner.escapeLength(bytes, i) : 1;
    }
    if (digits == 0) {
      return "no image data (expected: base64)";
    }
    if (padding > 2 || (digits + padding) % 4 != 0) {
      return "not base64: "
          + digits
          + " characters and "
          + padding
          + " of padding (expected: a multiple of 4 in all, at most 2 of them \"=\")";
    }
    return null;
  }

  /** The index of the first byte that is not of the alphabet. */
  private static int passAlphabet(JsonScanner in, int from, int to) {
    int known = in.base64Start();
    if (known < from || known >= to) {
      return passAlphabet(in.bytes(), from, to);
    }
    int i = passAlphabet(in.bytes(), from, known);
    return i < known ? i : passAlphabet(in.bytes(), in.base64End(), to);
  }

  private static int passAlphabet(byte[] bytes, int from, int to) {
    int i = from;
    while (i <= to - 8
        && (NOT_ALPHABET[(char) PAIR.get(bytes, i)]
                | NOT_ALPHABET[(char) PAIR.get(bytes, i + 2)]
                | NOT_ALPHABET[(char) PAIR.get(bytes, i + 4)]
                | NOT_ALPHABET[(char) PAIR.get(bytes, i + 6)])
            == 0) {
      i += 8;
    }
    while (i < to && isAlphabet(bytes[i])) {
      i++;
    }
    return i;
  }

  private static boolean isAlphabet(int c) {
    int folded = c | 0x20;
    return (folded >= 'a' && folded <= 'z') || (c >= '/' && c <= '9') || c == '+';
  }
}
