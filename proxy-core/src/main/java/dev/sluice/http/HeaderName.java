package dev.sluice.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.util.AsciiString;
import java.util.Arrays;

/**
 * The names of headers in lower case. Case means nothing in a name, RFC 9110 section 5.1, and is
 * not kept: names are compared often, and those that most requests have are made once.
 */
final class HeaderName {
  /** A power of two, with which each of the names below has a place of its own. */
  private static final int PLACES = 64;

  private static final AsciiString[] KNOWN = new AsciiString[PLACES];

  static {
    for (AsciiString name :
        new AsciiString[] {
          HttpHeaderNames.ACCEPT,
          HttpHeaderNames.ACCEPT_ENCODING,
          HttpHeaderNames.ACCEPT_LANGUAGE,
          HttpHeaderNames.AUTHORIZATION,
          HttpHeaderNames.CACHE_CONTROL,
          HttpHeaderNames.CONNECTION,
          HttpHeaderNames.CONTENT_LENGTH,
          HttpHeaderNames.CONTENT_TYPE,
          HttpHeaderNames.DATE,
          HttpHeaderNames.EXPECT,
          HttpHeaderNames.HOST,
          HttpHeaderNames.RETRY_AFTER,
          HttpHeaderNames.SERVER,
          HttpHeaderNames.TRANSFER_ENCODING,
          HttpHeaderNames.USER_AGENT,
          HttpHeaderNames.VARY,
          HttpHeaderNames.VIA,
          AsciiString.cached("anthropic-version"),
          AsciiString.cached(TraceContext.TRACEPARENT),
          AsciiString.cached(RequestId.HEADER),
        }) {
      KNOWN[place(name.array(), name.length())] = name;
    }
  }

  private HeaderName() {}

  /**
   * A name in lower case.
   *
   * @param line begins with the name, which is a token; its letters are made small
   */
  static AsciiString of(byte[] line, int length) {
    for (int i = 0; i < length; i++) {
      byte b = line[i];
      if (b >= 'A' && b <= 'Z') {
        line[i] = (byte) (b | 0x20);
      }
    }
    AsciiString known = KNOWN[place(line, length)];
    return known != null && isEqual(known.array(), line, length)
        ? known
        : new AsciiString(line, 0, length, true);
  }

  private static boolean isEqual(byte[] name, byte[] line, int length) {
    return Arrays.equals(name, 0, name.length, line, 0, length);
  }

  /** By length, first and last letter and one in between. */
  private static int place(byte[] name, int length) {
    return (length + name[0] * 3 + name[length - 1] * 3 + name[length / 2]) & (PLACES - 1);
  }
}
