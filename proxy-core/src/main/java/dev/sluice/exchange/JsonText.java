package dev.sluice.exchange;

import com.fasterxml.jackson.core.io.JsonStringEncoder;

/** Writes texts as JSON. */
final class JsonText {
  private JsonText() {}

  /** A JSON string, quotes included, as UTF-8. */
  static byte[] quoted(String text) {
    byte[] escaped = JsonStringEncoder.getInstance().quoteAsUTF8(text);
    byte[] quoted = new byte[escaped.length + 2];
    quoted[0] = '"';
    System.arraycopy(escaped, 0, quoted, 1, escaped.length);
    quoted[quoted.length - 1] = '"';
    return quoted;
  }
}
