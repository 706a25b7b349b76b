package dev.sluice.http;

import dev.sluice.error.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.concurrent.FastThreadLocal;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads heads of HTTP/1.1 messages, RFC 9112, strictly: what two readers could understand
 * differently is refused here, so that nothing behind it is ambiguous. One parser reads one head
 * after another of one connection. Not thread-safe.
 *
 * <p>Refused in every head: line ends other than CRLF, folded lines (section 5.2), white space
 * before a colon (section 5.1), control characters, names that are not tokens, and what is over a
 * bound. Bytes of a line are looked at once, however small the pieces that they come in.
 */
public abstract class HeadParser {
  /** How far a head has been read. */
  public enum Progress {
    /** More bytes are needed. */
    MORE,
    /** The head is whole; the buffer's reader index stands behind it. */
    WHOLE,
    /** The head is refused; {@link #refusal()} says why. Nothing more can be read. */
    REFUSED
  }

  /** Every name and value is checked here; again would cost more than reading them. */
  private static final DefaultHttpHeadersFactory HEADERS =
      DefaultHttpHeadersFactory.headersFactory().withValidation(false);

  private static final byte CR = '\r';
  private static final byte LF = '\n';

  private static final FastThreadLocal<byte[]> LINE =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[1 << 10];
        }
      };

  private final int maxEmptyLines;
  private final int maxStartLineBytes;
  private final int maxHeaderBytes;
  private final int maxHeaderCount;

  private boolean startLineRead;
  private int emptyLines;
  private int searchedBytes;
  private int headerBytes;
  private int headerCount;
  private @Nullable HttpHeaders headers;
  private @Nullable Failure refusal;

  /**
   * @param maxEmptyLines how many empty lines may stand before the start line
   */
  HeadParser(int maxEmptyLines, int maxStartLineBytes, int maxHeaderBytes, int maxHeaderCount) {
    this.maxEmptyLines = maxEmptyLines;
    this.maxStartLineBytes = maxStartLineBytes;
    this.maxHeaderBytes = maxHeaderBytes;
    this.maxHeaderCount = maxHeaderCount;
  }

  /** Reads as much of a head as the buffer holds. */
  public final Progress parse(ByteBuf in) {
    if (!startLineRead && searchedBytes == 0 && in.isReadable()) {
      byte first = in.getByte(in.readerIndex());
      if (!CharClass.is(first, CharClass.TOKEN) && first != CR && first != LF) {
        return refuse(malformed("it does not begin with " + startLineName()));
      }
    }
    while (true) {
      int from = in.readerIndex();
      int lf = in.indexOf(from + searchedBytes, in.writerIndex(), LF);
      if (lf < 0) {
        searchedBytes = in.readableBytes();
        // A CR may be half of the line end, which is not of the line.
        boolean ending = searchedBytes > 0 && in.getByte(in.writerIndex() - 1) == CR;
        return isOverBound(ending ? searchedBytes - 1 : searchedBytes)
            ? refuse(overBound())
            : Progress.MORE;
      }
      int to = lf - 1;
      if (to < from || in.getByte(to) != CR) {
        return refuse(malformed("a line does not end with CR LF"));
      }
      if (isOverBound(to - from)) {
        return refuse(overBound());
      }
      in.readerIndex(lf + 1);
      searchedBytes = 0;
      if (!startLineRead) {
        if (to == from && ++emptyLines <= maxEmptyLines) {
          continue;
        }
        String broken = startLine(line(in, from, to - from), to - from);
        if (broken != null) {
          return refuse(malformed(broken));
        }
        startLineRead = true;
      } else if (to == from) {
        return Progress.WHOLE;
      } else {
        headerBytes += to - from + 2;
        if (++headerCount > maxHeaderCount) {
          return refuse(overBound());
        }
        String broken = headerLine(line(in, from, to - from), to - from);
        if (broken != null) {
          return refuse(malformed(broken));
        }
      }
    }
  }

  /** Why the head is refused, after {@link Progress#REFUSED}. */
  public final Failure refusal() {
    if (refusal == null) {
      throw new IllegalStateException("progress: not refused (expected: REFUSED)");
    }
    return refusal;
  }

  /** Whether a byte of the head has come; an empty line before it is none of it. */
  public final boolean hasBegun() {
    return startLineRead || searchedBytes > 0;
  }

  /** Takes the headers of the whole head, and makes ready for the next one. */
  final HttpHeaders takeHeaders() {
    HttpHeaders taken = headers();
    headers = null;
    startLineRead = false;
    emptyLines = 0;
    searchedBytes = 0;
    headerBytes = 0;
    headerCount = 0;
    return taken;
  }

  /** Reads the start line, which the array begins with; returns null, or the rule it breaks. */
  abstract @Nullable String startLine(byte[] line, int length);

  abstract String startLineName();

  abstract Failure malformed(String rule);

  abstract Failure startLineTooLong(int maxBytes);

  abstract Failure headersTooLarge(int maxBytes, int maxCount);

  private Progress refuse(Failure failure) {
    refusal = failure;
    return Progress.REFUSED;
  }

  private boolean isOverBound(int lineBytes) {
    return startLineRead ? headerBytes + lineBytes > maxHeaderBytes : lineBytes > maxStartLineBytes;
  }

  private Failure overBound() {
    return startLineRead
        ? headersTooLarge(maxHeaderBytes, maxHeaderCount)
        : startLineTooLong(maxStartLineBytes);
  }

  private @Nullable String headerLine(byte[] line, int length) {
    if (isBlank(line[0])) {
      return "a header line is folded";
    }
    int colon = 0;
    while (colon < length && CharClass.is(line[colon], CharClass.TOKEN)) {
      colon++;
    }
    if (colon == length || line[colon] != ':') {
      return "a header name holds a character that no name may hold, or has no colon after it";
    }
    if (colon == 0) {
      return "a header line has no name";
    }
    int start = colon + 1;
    int end = length;
    while (start < end && isBlank(line[start])) {
      start++;
    }
    while (end > start && isBlank(line[end - 1])) {
      end--;
    }
    for (int i = start; i < end; i++) {
      if (!CharClass.is(line[i], CharClass.VALUE)) {
        return "a header value holds a control character";
      }
    }
    headers().add(HeaderName.of(line, colon), text(line, start, end));
    return null;
  }

  static String text(byte[] line, int from, int to) {
    return new String(line, from, to - from, StandardCharsets.ISO_8859_1);
  }

  /** The line as an array, which is quicker to look at; it is the thread's, until the next line. */
  private static byte[] line(ByteBuf in, int from, int length) {
    byte[] line = LINE.get();
    if (line.length < length) {
      line = new byte[length]; // rare, and no larger than the bounds
    }
    in.getBytes(from, line, 0, length);
    return line;
  }

  private static boolean isBlank(byte b) {
    return b == ' ' || b == '\t';
  }

  /** Those of the head under way; there are none while a connection waits. */
  private HttpHeaders headers() {
    HttpHeaders read = headers;
    if (read == null) {
      read = HEADERS.newHeaders();
      headers = read;
    }
    return read;
  }
}
