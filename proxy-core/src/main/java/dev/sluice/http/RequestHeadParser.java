package dev.sluice.http;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/**
 * Reads request heads, RFC 9112 section 3: exactly one space between method, target and version;
 * HTTP/1.0 or HTTP/1.1; a target of URI characters alone, without a fragment.
 */
public final class RequestHeadParser extends HeadParser {
  private static final int VERSION_BYTES = "HTTP/1.1".length();

  private @Nullable HttpMethod method;
  private @Nullable HttpVersion version;
  private String target = "";

  /** A parser for one connection, with these bounds. */
  public RequestHeadParser(HttpLimits limits) {
    // RFC 9112 section 2.2: ignore at least one empty line before the request line.
    super(1, limits.maxRequestLineBytes(), limits.maxHeaderBytes(), limits.maxHeaderCount());
  }

  /** Takes the head that was read whole, and makes ready for the next one. */
  public HttpRequest take() {
    HttpMethod readMethod = method;
    HttpVersion readVersion = version;
    if (readMethod == null || readVersion == null) {
      throw new IllegalStateException("head: not whole (expected: WHOLE)");
    }
    String readTarget = target;
    method = null;
    version = null;
    target = "";
    return new DefaultHttpRequest(readVersion, readMethod, readTarget, takeHeaders());
  }

  @Override
  @Nullable String startLine(byte[] line, int length) {
    int methodEnd = 0;
    while (methodEnd < length && CharClass.is(line[methodEnd], CharClass.TOKEN)) {
      methodEnd++;
    }
    if (methodEnd == 0 || methodEnd == length || line[methodEnd] != ' ') {
      return "the request line does not begin with a method and one space";
    }
    int targetStart = methodEnd + 1;
    int targetEnd = targetStart;
    while (targetEnd < length && CharClass.is(line[targetEnd], CharClass.URI)) {
      targetEnd++;
    }
    if (targetEnd == targetStart || targetEnd == length || line[targetEnd] != ' ') {
      return "the request line has no target, or one with a character that no target may hold";
    }
    version =
        length - targetEnd - 1 == VERSION_BYTES ? version(text(line, targetEnd + 1, length)) : null;
    if (version == null) {
      return "the request line does not end with HTTP/1.1 or HTTP/1.0";
    }
    method = HttpMethod.valueOf(text(line, 0, methodEnd));
    target = text(line, targetStart, targetEnd);
    return null;
  }

  private static @Nullable HttpVersion version(String text) {
    return switch (text) {
      case "HTTP/1.1" -> HttpVersion.HTTP_1_1;
      case "HTTP/1.0" -> HttpVersion.HTTP_1_0;
      default -> null;
    };
  }

  @Override
  String startLineName() {
    return "a method";
  }

  @Override
  Failure malformed(String rule) {
    return malformedRequest(rule);
  }

  /** The failure of a request that breaks a rule of HTTP. */
  public static Failure malformedRequest(String rule) {
    return Failure.of(
        Reason.HTTP_MALFORMED, "The request cannot be read as HTTP/1.1: " + rule + ".");
  }

  @Override
  Failure startLineTooLong(int maxBytes) {
    return Failure.of(
        Reason.REQUEST_LINE_TOO_LONG,
        "The request line is longer than " + maxBytes + " bytes. Send a shorter target.");
  }

  @Override
  Failure headersTooLarge(int maxBytes, int maxCount) {
    return Failure.of(
        Reason.HEADERS_TOO_LARGE,
        "The headers are larger than "
            + maxBytes
            + " bytes or more than "
            + maxCount
            + " lines. Send fewer or shorter headers.");
  }
}
