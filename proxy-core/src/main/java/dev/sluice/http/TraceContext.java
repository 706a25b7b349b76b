package dev.sluice.http;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Which trace an exchange belongs to, W3C Trace Context: the caller's, or one that begins with it.
 *
 * @param traceIdHigh the first half of the trace's id
 * @param traceIdLow the second half; both are not 0 at once
 * @param parentId the caller's span; 0 where the trace begins here
 * @param flags the flags that go on: {@value #SAMPLED} and {@value #RANDOM}
 * @param state the caller's {@code tracestate}, cut to its bounds; null where there is none
 */
public record TraceContext(
    long traceIdHigh, long traceIdLow, long parentId, int flags, @Nullable String state) {
  /*
   * The text of version 00 is 55 characters: 00-<32 digits>-<16 digits>-<2 digits>, lower case. A
   * later version may be longer and is read as that one. What breaks a rule is not there: section
   * 3.2.2.4 wants a new trace then, and section 3.3 no tracestate without a traceparent.
   */

  /** The header that names trace and parent. */
  public static final String TRACEPARENT = "traceparent";

  /** The header that carries what tracing systems add. */
  public static final String TRACESTATE = "tracestate";

  /**
   * The most characters of {@code tracestate} that go on: as many as the specification asks for.
   */
  public static final int MAX_STATE_CHARS = 512;

  /** The most members of {@code tracestate} that go on: as many as there may be. */
  public static final int MAX_STATE_MEMBERS = 32;

  /** The flag of a trace that its caller records. */
  public static final int SAMPLED = 1;

  /** The flag of a trace whose id is random in its last seven bytes. */
  public static final int RANDOM = 2;

  private static final int LENGTH = 55;

  private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  /**
   * The trace of a request with these headers; a new one where they name none.
   *
   * @param sample as in {@link #begin}
   */
  public static TraceContext of(HttpHeaders headers, double sample) {
    String parent = headers.get(TRACEPARENT);
    TraceContext context = parent == null ? null : parse(parent, headers);
    return context == null ? begin(sample) : context;
  }

  /**
   * A new trace.
   *
   * @param sample the probability with which it is sampled, 0 to 1
   */
  public static TraceContext begin(double sample) {
    SplittableRandom random = RandomBits.ofThread();
    int flags = sample > 0 && random.nextDouble() < sample ? SAMPLED : 0;
    return new TraceContext(random.nextLong(), random.nextLong() | 1, 0, flags, null);
  }

  /** The id of a new span: random, and not 0. */
  public static long newSpanId() {
    long id = RandomBits.ofThread().nextLong();
    return id == 0 ? 1 : id;
  }

  private static @Nullable TraceContext parse(String text, HttpHeaders headers) {
    if (!isWellFormed(text) || headers.getAll(TRACEPARENT).size() > 1) {
      return null;
    }
    long high = Long.parseUnsignedLong(text, 3, 19, 16);
    long low = Long.parseUnsignedLong(text, 19, 35, 16);
    long parent = Long.parseUnsignedLong(text, 36, 52, 16);
    if ((high | low) == 0 || parent == 0) {
      return null;
    }
    int flags = Integer.parseInt(text, 53, LENGTH, 16) & (SAMPLED | RANDOM);
    return new TraceContext(high, low, parent, flags, state(headers.getAll(TRACESTATE)));
  }

  private static boolean isWellFormed(String text) {
    if (text.length() < LENGTH || text.startsWith("ff")) {
      return false;
    }
    for (int i = 0; i < LENGTH; i++) {
      char c = text.charAt(i);
      boolean dash = i == 2 || i == 35 || i == 52;
      boolean hexDigit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      if (dash ? c != '-' : !hexDigit) {
        return false;
      }
    }
    return text.length() == LENGTH || (!text.startsWith("00") && text.charAt(LENGTH) == '-');
  }

  /**
   * The lines of {@code tracestate} as one; where it is too long, its last members are left out.
   */
  private static @Nullable String state(List<String> lines) {
    String state = String.join(",", lines);
    int end = 0;
    int members = 0;
    while (end < state.length() && members < MAX_STATE_MEMBERS) {
      int comma = state.indexOf(',', end + 1);
      int next = comma < 0 ? state.length() : comma;
      if (next > MAX_STATE_CHARS) {
        break;
      }
      end = next;
      members++;
    }
    return end == 0 ? null : state.substring(0, end);
  }

  /** Whether the trace's spans are to be recorded. */
  public boolean isSampled() {
    return (flags & SAMPLED) != 0;
  }

  /** The trace's id, as it is written everywhere: 32 digits. */
  public String traceId() {
    byte[] digits = new byte[32];
    hex(traceIdHigh, digits, 0);
    hex(traceIdLow, digits, 16);
    return new String(digits, StandardCharsets.ISO_8859_1);
  }

  /** Writes the header lines that continue the trace from a span of Sluice's own. */
  public void write(HeadWriter head, long spanId) {
    byte[] value = new byte[LENGTH];
    value[0] = '0';
    value[1] = '0';
    value[2] = '-';
    hex(traceIdHigh, value, 3);
    hex(traceIdLow, value, 19);
    value[35] = '-';
    hex(spanId, value, 36);
    value[52] = '-';
    value[53] = '0';
    value[54] = DIGITS[flags];
    head.header(TRACEPARENT, new AsciiString(value, false));
    if (state != null) {
      head.header(TRACESTATE, state);
    }
  }

  private static void hex(long bits, byte[] into, int from) {
    for (int i = 15; i >= 0; i--, bits >>>= 4) {
      into[from + i] = DIGITS[(int) bits & 15];
    }
  }
}
