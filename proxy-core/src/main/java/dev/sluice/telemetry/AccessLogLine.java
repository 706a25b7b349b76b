package dev.sluice.telemetry;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.message.Usage;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * An exchange as one line of the access log: one JSON object, its members always all there and in
 * the same order, {@code null} where there is nothing to say.
 *
 * <table>
 *   <caption>Members</caption>
 *   <tr><td>time</td><td>when the first byte came, RFC 3339, UTC, milliseconds</td></tr>
 *   <tr><td>request_id</td><td>the answer's {@code x-request-id}</td></tr>
 *   <tr><td>trace_id</td><td>of the caller's trace, or of one that began here</td></tr>
 *   <tr><td>operation, model, plan</td><td>configured names</td></tr>
 *   <tr><td>key</td><td>the name of the key, never the key</td></tr>
 *   <tr><td>status</td><td>0 where the client left before an answer</td></tr>
 *   <tr><td>reason</td><td>why it failed</td></tr>
 *   <tr><td>bytes_in, bytes_out</td><td>of the request's body; of the whole answer</td></tr>
 *   <tr><td>events</td><td>server-sent events relayed</td></tr>
 *   <tr><td>input_tokens, output_tokens</td><td>as the upstream told them</td></tr>
 *   <tr><td>first_byte_ms, duration_ms</td><td>milliseconds, to the microsecond</td></tr>
 *   <tr><td>upstream</td><td>the endpoint last tried, without its credential</td></tr>
 *   <tr><td>attempts</td><td>how many endpoints were tried</td></tr>
 *   <tr><td>stream</td><td>whether it took a stream slot</td></tr>
 *   <tr><td>end</td><td>how it ended</td></tr>
 * </table>
 */
public final class AccessLogLine {
  private AccessLogLine() {}

  /** Appends the line of this exchange, its line feed included. */
  public static void append(StringBuilder log, ExchangeSummary summary) {
    log.append("{\"time\":\"");
    appendTime(log, summary.startedMillis());
    log.append('"');
    appendString(log, "request_id", summary.requestId());
    appendString(log, "trace_id", summary.trace().traceId());
    appendString(log, "operation", summary.operation());
    appendString(log, "model", summary.model());
    appendString(log, "plan", summary.plan());
    appendString(log, "key", summary.key());
    log.append(",\"status\":").append(summary.status());
    appendString(log, "reason", summary.reason() == null ? null : summary.reason().label());
    log.append(",\"bytes_in\":").append(summary.bytesIn());
    log.append(",\"bytes_out\":").append(summary.bytesOut());
    log.append(",\"events\":").append(summary.events());
    appendTokens(log, "input_tokens", summary.usage().inputTokens());
    appendTokens(log, "output_tokens", summary.usage().outputTokens());
    appendMillis(log, "first_byte_ms", summary.firstByteNanos());
    appendMillis(log, "duration_ms", summary.durationNanos());
    appendString(
        log, "upstream", summary.endpoint() == null ? null : summary.endpoint().toString());
    log.append(",\"attempts\":").append(summary.attempts());
    log.append(",\"stream\":").append(summary.stream());
    appendString(log, "end", summary.end().label());
    log.append("}\n");
  }

  private static void appendString(StringBuilder log, String name, @Nullable String value) {
    log.append(",\"").append(name).append("\":");
    if (value == null) {
      log.append("null");
      return;
    }
    log.append('"');
    JsonStringEncoder.getInstance().quoteAsString(value, log);
    log.append('"');
  }

  private static void appendTokens(StringBuilder log, String name, long tokens) {
    log.append(",\"").append(name).append("\":");
    if (tokens == Usage.UNKNOWN) {
      log.append("null");
    } else {
      log.append(tokens);
    }
  }

  private static void appendMillis(StringBuilder log, String name, long nanos) {
    log.append(",\"").append(name).append("\":");
    if (nanos < 0) {
      log.append("null");
      return;
    }
    long micros = nanos / 1_000;
    log.append(micros / 1_000).append('.');
    appendDigits(log, (int) (micros % 1_000), 3);
  }

  /* By hand: a DateTimeFormatter costs more than the rest of the line. */
  private static void appendTime(StringBuilder log, long epochMillis) {
    LocalDateTime time =
        LocalDateTime.ofEpochSecond(Math.floorDiv(epochMillis, 1_000L), 0, ZoneOffset.UTC);
    appendDigits(log, time.getYear(), 4);
    appendDigits(log.append('-'), time.getMonthValue(), 2);
    appendDigits(log.append('-'), time.getDayOfMonth(), 2);
    appendDigits(log.append('T'), time.getHour(), 2);
    appendDigits(log.append(':'), time.getMinute(), 2);
    appendDigits(log.append(':'), time.getSecond(), 2);
    appendDigits(log.append('.'), Math.floorMod(epochMillis, 1_000), 3);
    log.append('Z');
  }

  private static void appendDigits(StringBuilder log, int value, int digits) {
    for (int unit = digits == 4 ? 1_000 : digits == 3 ? 100 : 10; unit > 0; unit /= 10) {
      log.append((char) ('0' + value / unit % 10));
    }
  }
}
