package dev.sluice.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Locale;

/** Between text, bytes and wire strings, which have one character for each byte. */
public final class Wire {
  private Wire() {}

  /** The bytes of a wire string. */
  public static byte[] bytes(String wire) {
    return wire.getBytes(ISO_8859_1);
  }

  /** Bytes as a wire string. */
  public static String of(byte[] bytes) {
    return new String(bytes, ISO_8859_1);
  }

  /** Text as the wire string of its UTF-8 bytes. */
  public static String utf8(String text) {
    return of(text.getBytes(UTF_8));
  }

  /** The text of a wire string that holds UTF-8. */
  public static String text(String wire) {
    return new String(bytes(wire), UTF_8);
  }

  /** One chunk of a chunked body. */
  public static String chunk(String wire) {
    return Integer.toHexString(wire.length()).toLowerCase(Locale.ROOT) + "\r\n" + wire + "\r\n";
  }
}
