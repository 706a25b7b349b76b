package dev.sluice.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the length of a body is known, RFC 9112 section 6, without its tolerances: a message that two
 * readers could cut differently is refused.
 *
 * @param kind how the body ends
 * @param length the body's length in bytes where the kind is {@link Kind#LENGTH}, else 0; {@link
 *     Long#MAX_VALUE} for anything larger
 * @param refusal the rule that the head breaks; null where it breaks none
 */
public record BodyFraming(Kind kind, long length, @Nullable String refusal) {
  /** How a body ends. */
  public enum Kind {
    /** After a number of bytes, which may be none. */
    LENGTH,
    /** With its last chunk. */
    CHUNKED,
    /** With the connection; answers only. */
    UNTIL_CLOSE
  }

  private static final BodyFraming EMPTY = new BodyFraming(Kind.LENGTH, 0, null);
  private static final BodyFraming CHUNKED = new BodyFraming(Kind.CHUNKED, 0, null);
  private static final BodyFraming UNTIL_CLOSE = new BodyFraming(Kind.UNTIL_CLOSE, 0, null);

  /** The framing of a request's body; without a length there is none. */
  public static BodyFraming ofRequest(HttpHeaders headers, boolean http10) {
    return of(headers, http10, EMPTY);
  }

  /** The framing of an answer's body; 1xx, 204 and 304 have none, whatever their headers say. */
  public static BodyFraming ofAnswer(ResponseHead head) {
    BodyFraming framing = of(head.headers(), head.http10(), UNTIL_CLOSE);
    boolean bodiless = head.status() < 200 || head.status() == 204 || head.status() == 304;
    return bodiless && framing.refusal == null ? EMPTY : framing;
  }

  private static BodyFraming of(HttpHeaders headers, boolean http10, BodyFraming absent) {
    List<String> lengths = headers.getAll(HttpHeaderNames.CONTENT_LENGTH);
    if (headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
      if (!lengths.isEmpty()) {
        return refused("it has both Content-Length and Transfer-Encoding");
      }
      if (http10) {
        return refused("it has a Transfer-Encoding on HTTP/1.0");
      }
      List<String> encodings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
      if (encodings.size() > 1 || !encodings.get(0).equalsIgnoreCase("chunked")) {
        return refused("its Transfer-Encoding is not exactly chunked");
      }
      return CHUNKED;
    }
    if (lengths.isEmpty()) {
      return absent;
    }
    if (lengths.size() > 1) {
      return refused("it has more than one Content-Length");
    }
    return ofLength(lengths.get(0));
  }

  private static BodyFraming ofLength(String text) {
    long length = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return refused("its Content-Length is not a number");
      }
      length = length > (Long.MAX_VALUE - 9) / 10 ? Long.MAX_VALUE : length * 10 + digit;
      if (length < 0) {
        length = Long.MAX_VALUE;
      }
    }
    return text.isEmpty()
        ? refused("its Content-Length is not a number")
        : length == 0 ? EMPTY : new BodyFraming(Kind.LENGTH, length, null);
  }

  private static BodyFraming refused(String rule) {
    return new BodyFraming(Kind.LENGTH, 0, rule);
  }
}
