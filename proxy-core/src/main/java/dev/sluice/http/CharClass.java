package dev.sluice.http;

/** Which bytes may stand where in a head, as one table. */
final class CharClass {
  /** {@code tchar} of RFC 9110 section 5.6.2: methods and header names. */
  static final int TOKEN = 1;

  /** Header values, RFC 9110 section 5.5: visible characters, space, tab, obs-text. */
  static final int VALUE = 2;

  /** Characters of a URI, RFC 3986 section 2, without {@code #}: a target has no fragment. */
  static final int URI = 4;

  /** {@code reg-name} of RFC 3986 section 3.2.2, without percent-encoding: no host has it. */
  static final int HOST = 8;

  private static final byte[] CLASSES = new byte[256];

  static {
    for (int c = 0x20; c <= 0xFF; c++) {
      if (c != 0x7F) {
        CLASSES[c] |= VALUE;
      }
    }
    CLASSES['\t'] |= VALUE;
    String alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    add(alphanumeric + "!#$%&'*+-.^_`|~", TOKEN);
    add(alphanumeric + "-._~:/?[]@!$&'()*+,;=%", URI);
    add(alphanumeric + "-._~!$&'()*+,;=", HOST);
  }

  private CharClass() {}

  private static void add(String characters, int flag) {
    for (int i = 0; i < characters.length(); i++) {
      CLASSES[characters.charAt(i)] |= (byte) flag;
    }
  }

  /** Whether a byte is in the class. */
  static boolean is(byte b, int flag) {
    return (CLASSES[b & 0xFF] & flag) != 0;
  }

  /** Whether all characters from one index to before another are in the class. */
  static boolean all(CharSequence text, int from, int to, int flag) {
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if (c > 0xFF || (CLASSES[c] & flag) == 0) {
        return false;
      }
    }
    return true;
  }
}
