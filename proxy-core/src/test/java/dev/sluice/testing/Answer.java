package dev.sluice.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An answer as a strict reader of HTTP/1.1 sees it that has read all there is.
 *
 * @param status the status
 * @param head the head, line ends and all
 * @param body the body, without chunk framing where it has any
 * @param end where the reader stands
 */
public record Answer(int status, String head, String body, End end) {
  /** Where the reader of an answer stands when there is no more to read. */
  public enum End {
    /** Behind the last chunk, or the last byte of a known length. */
    WHOLE,
    /** It wants another chunk. */
    BETWEEN_CHUNKS,
    /** It wants more of a chunk, or of a known length. */
    WITHIN,
    /** The body has neither chunks nor a length: it ends with the connection. */
    OPEN
  }

  private static final Pattern LENGTH = Pattern.compile("\r\ncontent-length: (\\d+)\r\n");

  /** Reads one answer, behind which nothing may stand. */
  public static Answer read(String bytes) {
    int headEnd = bytes.indexOf("\r\n\r\n") + 4;
    if (headEnd < 4 || !bytes.startsWith("HTTP/1.1 ")) {
      throw new AssertionError("no head in: " + bytes);
    }
    String head = bytes.substring(0, headEnd);
    String body = bytes.substring(headEnd);
    int status = Integer.parseInt(head.substring(9, 12));
    if (head.contains("\r\ntransfer-encoding: chunked\r\n")) {
      return chunked(status, head, body);
    }
    Matcher length = LENGTH.matcher(head);
    if (!length.find()) {
      return new Answer(status, head, body, End.OPEN);
    }
    int missing = Integer.parseInt(length.group(1)) - body.length();
    if (missing < 0) {
      throw new AssertionError("bytes behind the body: " + body);
    }
    return new Answer(status, head, body, missing == 0 ? End.WHOLE : End.WITHIN);
  }

  private static Answer chunked(int status, String head, String body) {
    StringBuilder payload = new StringBuilder();
    int at = 0;
    while (at < body.length()) {
      int lineEnd = body.indexOf("\r\n", at);
      if (lineEnd < 0) {
        return new Answer(status, head, payload.toString(), End.WITHIN);
      }
      String size = body.substring(at, lineEnd).replaceFirst(";.*", "");
      if (!size.matches("[0-9a-fA-F]{1,16}")) {
        throw new AssertionError("chunk size: " + size + " in: " + body);
      }
      int length = Integer.parseInt(size, 16);
      int from = lineEnd + 2;
      if (length == 0) {
        if (!body.substring(from).equals("\r\n")) {
          throw new AssertionError("behind the last chunk: " + body.substring(from));
        }
        return new Answer(status, head, payload.toString(), End.WHOLE);
      }
      int to = Math.min(from + length, body.length());
      payload.append(body, from, to);
      String after = body.substring(to, Math.min(to + 2, body.length()));
      if (to < from + length || after.length() < 2) {
        return new Answer(status, head, payload.toString(), End.WITHIN);
      }
      if (!after.equals("\r\n")) {
        throw new AssertionError("behind a chunk: " + after + " in: " + body);
      }
      at = to + 2;
    }
    return new Answer(status, head, payload.toString(), End.BETWEEN_CHUNKS);
  }
}
