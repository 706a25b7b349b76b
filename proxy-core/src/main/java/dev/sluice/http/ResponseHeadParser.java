package dev.sluice.http;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads heads of upstreams' answers, RFC 9112 section 4; the reason phrase is not kept. */
public final class ResponseHeadParser extends HeadParser {
  private static final int MAX_STATUS_LINE_BYTES = 4 << 10;
  private static final int MAX_HEADER_BYTES = 64 << 10;
  private static final int MAX_HEADER_COUNT = 200;
  private static final byte[] VERSION_1_1 = "HTTP/1.1 ".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] VERSION_1_0 = "HTTP/1.0 ".getBytes(StandardCharsets.US_ASCII);
  private static final int STATUS_AT = VERSION_1_1.length;

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
  @Nullable String startLine(byte[] line, int length) {
    if (length < STATUS_AT + 3) {
      return "the status line is too short";
    }
    http10 = begins(line, VERSION_1_0);
    if (!http10 && !begins(line, VERSION_1_1)) {
      return "the status line does not begin with HTTP/1.1 or HTTP/1.0";
    }
    status = 0;
    for (int i = STATUS_AT; i < STATUS_AT + 3; i++) {
      int digit = line[i] - '0';
      if (digit < 0 || digit > 9) {
        return "the status is not three digits";
      }
      status = status * 10 + digit;
    }
    if (status < 100 || status > 599) {
      return "the status is not between 100 and 599";
    }
    int afterStatus = STATUS_AT + 3;
    if (afterStatus < length && line[afterStatus] != ' ') {
      return "the status is not three digits";
    }
    for (int i = afterStatus; i < length; i++) {
      if (!CharClass.is(line[i], CharClass.VALUE)) {
        return "the reason phrase holds a control character";
      }
    }
    return null;
  }

  private static boolean begins(byte[] line, byte[] version) {
    return Arrays.equals(line, 0, STATUS_AT, version, 0, STATUS_AT);
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
