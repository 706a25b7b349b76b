package dev.sluice.http;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Reads heads of upstreams' answers, RFC 9112 section 4; the reason phrase is not kept. */
public final class ResponseHeadParser extends HeadParser {
  private static final int MAX_STATUS_LINE_BYTES = 4 << 10;
  private static final int MAX_HEADER_BYTES = 64 << 10;
  private static final int MAX_HEADER_COUNT = 200;
  private static final int STATUS_AT = "HTTP/1.1 ".length();

  private int status;
  private boolean http10;

  /** A parser for one connection. */
  public ResponseHeadParser() {
    super(0, MAX_STATUS_LINE_BYTES, MAX_HEADER_BYTES, MAX_HEADER_COUNT);
  }

  /** Takes the head that was read whole, and makes ready for the next one. */
  public ResponseHead take() {
    return new ResponseHead(status, http10, takeHeaders());
  }

  @Override
  @Nullable String startLine(ByteBuf in, int from, int to) {
    if (to - from < STATUS_AT + 3) {
      return "the status line is too short";
    }
    String version = text(in, from, from + STATUS_AT);
    http10 = version.equals("HTTP/1.0 ");
    if (!http10 && !version.equals("HTTP/1.1 ")) {
      return "the status line does not begin with HTTP/1.1 or HTTP/1.0";
    }
    status = 0;
    for (int i = from + STATUS_AT; i < from + STATUS_AT + 3; i++) {
      int digit = in.getByte(i) - '0';
      if (digit < 0 || digit > 9) {
        return "the status is not three digits";
      }
      status = status * 10 + digit;
    }
    if (status < 100 || status > 599) {
      return "the status is not between 100 and 599";
    }
    int afterStatus = from + STATUS_AT + 3;
    if (afterStatus < to && in.getByte(afterStatus) != ' ') {
      return "the status is not three digits";
    }
    for (int i = afterStatus; i < to; i++) {
      if (!CharClass.is(in.getByte(i), CharClass.VALUE)) {
        return "the reason phrase holds a control character";
      }
    }
    return null;
  }

  @Override
  String startLineName() {
    return "a status line";
  }

  @Override
  Failure malformed(String rule) {
    return malformedAnswer(); // the caller cannot mend it, and is told no more
  }

  /** The failure of an answer that breaks a rule of HTTP. */
  public static Failure malformedAnswer() {
    return Failure.of(
        Reason.UPSTREAM_PROTOCOL, "The model's answer was not valid HTTP. Send the request again.");
  }

  @Override
  Failure startLineTooLong(int maxBytes) {
    return malformed("the status line is too long");
  }

  @Override
  Failure headersTooLarge(int maxBytes, int maxCount) {
    return malformed("the headers are too large");
  }
}
