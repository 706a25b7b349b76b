package dev.sluice.http;

import io.netty.util.NetUtil;

/**
 * Says whether a text is {@code host [ ":" port ]}, RFC 9110 section 7.2 and RFC 3986 section 3.2.
 */
public final class Authority {
  private Authority() {}

  /** Whether it is a host, not empty, with an optional port of at most five digits. */
  public static boolean isValid(String text) {
    int hostEnd;
    if (text.startsWith("[")) {
      hostEnd = text.indexOf(']') + 1;
      if (hostEnd < 4 || !isAddress(text, hostEnd - 1)) {
        return false;
      }
    } else {
      int colon = text.indexOf(':');
      hostEnd = colon < 0 ? text.length() : colon;
      if (hostEnd == 0 || !CharClass.all(text, 0, hostEnd, CharClass.HOST)) {
        return false;
      }
    }
    return hostEnd == text.length() || isPort(text, hostEnd);
  }

  private static boolean isAddress(String text, int to) {
    for (int i = 1; i < to; i++) {
      char c = text.charAt(i);
      if (Character.digit(c, 16) < 0 && c != ':' && c != '.') {
        return false; // a zone, RFC 6874, means nothing to anybody else
      }
    }
    return NetUtil.isValidIpV6Address(text.substring(1, to));
  }

  private static boolean isPort(String text, int colon) {
    if (text.charAt(colon) != ':' || text.length() - colon > 6) {
      return false;
    }
    for (int i = colon + 1; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }
}
