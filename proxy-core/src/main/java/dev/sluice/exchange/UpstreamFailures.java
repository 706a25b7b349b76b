package dev.sluice.exchange;

import dev.sluice.cluster.Cluster;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.http.ResponseHead;
import dev.sluice.http.ResponseHeadParser;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a caller is told when the model's upstream fails, in words that say nothing of where it is.
 */
final class UpstreamFailures {
  /** An upstream that asks for a longer wait than this is not taken at its word, in seconds. */
  private static final int MAX_RETRY_AFTER_SECONDS = 3600;

  private UpstreamFailures() {}

  /**
   * No connection could be made.
   *
   * @param untilNextTryNanos when an endpoint may be used; 0 where one may be now
   */
  static Failure connect(long untilNextTryNanos) {
    return Failure.retryAfter(
        Reason.UPSTREAM_CONNECT,
        "The model cannot be reached. Wait the seconds in Retry-After, then send the request"
            + " again.",
        waitSeconds(untilNextTryNanos));
  }

  static Failure closed() {
    return Failure.of(
        Reason.UPSTREAM_CLOSED,
        "The model broke off before its answer was whole. Send the request again.");
  }

  /** A stream that ended in order, but before it was whole. */
  static Failure truncated() {
    return Failure.of(
        Reason.UPSTREAM_TRUNCATED,
        "The model ended its answer before it was whole. Send the request again.");
  }

  static Failure protocol() {
    return ResponseHeadParser.malformedAnswer();
  }

  /** No connection was made in time; the wait is as for {@link #connect}. */
  static Failure connectTimeout(long untilNextTryNanos) {
    return Failure.retryAfter(
        Reason.UPSTREAM_CONNECT_TIMEOUT,
        "The model could not be reached in time. Wait the seconds in Retry-After, then send the"
            + " request again.",
        waitSeconds(untilNextTryNanos));
  }

  /** An answer that did not begin, went on or ended in time. */
  static Failure timeout(Reason reason) {
    return Failure.of(reason, "The model did not answer in time. Send the request again.");
  }

  static Failure contentType(boolean stream) {
    return Failure.of(
        Reason.UPSTREAM_CONTENT_TYPE,
        stream
            ? "The model's answer was not an event stream. Send the request again."
            : "The model's answer was not JSON. Send the request again.");
  }

  static Failure invalidAnswer() {
    return Failure.of(
        Reason.UPSTREAM_ANSWER, "The model's answer was not valid JSON. Send the request again.");
  }

  static Failure tooLarge(int maxBytes) {
    return Failure.of(
        Reason.UPSTREAM_ANSWER,
        "The model's answer was larger than "
            + maxBytes
            + " bytes. Ask for a shorter one, or for a stream.");
  }

  /** No endpoint may be used before this many nanoseconds have passed; negative: nobody knows. */
  static Failure noEndpoint(long untilNextTryNanos) {
    return Failure.retryAfter(
        Reason.UPSTREAM_NO_ENDPOINT,
        "The model is unavailable for now. Wait the seconds in Retry-After, then send the request"
            + " again.",
        untilNextTryNanos < 0 ? 0 : Math.max(1, waitSeconds(untilNextTryNanos)));
  }

  /** Rounded up; 0, for the default, where there is nothing to wait for or nobody knows. */
  private static int waitSeconds(long nanos) {
    long second = TimeUnit.SECONDS.toNanos(1);
    return nanos <= 0 ? 0 : (int) ((nanos + second - 1) / second);
  }

  /**
   * What the end of an exchange with this reason says of the endpoint that it was tried at.
   *
   * @param asksToWait whether the upstream said how long it is not to be asked
   */
  static Cluster.Outcome outcome(Reason reason, boolean asksToWait) {
    return switch (reason) {
      case UPSTREAM_CONNECT,
          UPSTREAM_CONNECT_TIMEOUT,
          UPSTREAM_FIRST_BYTE_TIMEOUT,
          UPSTREAM_IDLE_TIMEOUT,
          UPSTREAM_CLOSED,
          UPSTREAM_TRUNCATED,
          UPSTREAM_PROTOCOL,
          UPSTREAM_BAD_GATEWAY,
          UPSTREAM_STATUS,
          UPSTREAM_CONTENT_TYPE,
          UPSTREAM_ANSWER ->
          Cluster.Outcome.FAILED;
      case UPSTREAM_UNAVAILABLE -> asksToWait ? Cluster.Outcome.REFUSED : Cluster.Outcome.FAILED;
      case UPSTREAM_RATE_LIMITED -> Cluster.Outcome.REFUSED;
      case UPSTREAM_REFUSED, UPSTREAM_REFUSED_SIZE -> Cluster.Outcome.ANSWERED;
      default -> Cluster.Outcome.CANCELLED;
    };
  }

  /** What an answer with a status other than 2xx means to the caller. */
  static Failure ofStatus(int status, int retryAfterSeconds) {
    return switch (status) {
      case 400, 415, 422 ->
          Failure.of(Reason.UPSTREAM_REFUSED, "The model refused the request as invalid.");
      case 413 ->
          Failure.of(Reason.UPSTREAM_REFUSED_SIZE, "The model refused the request as too large.");
      case 429 ->
          Failure.retryAfter(
              Reason.UPSTREAM_RATE_LIMITED,
              "The model takes no more requests now. Wait the seconds in Retry-After, then send"
                  + " the request again.",
              retryAfterSeconds);
      case 503 ->
          Failure.retryAfter(
              Reason.UPSTREAM_UNAVAILABLE,
              "The model is unavailable for now. Wait the seconds in Retry-After, then send the"
                  + " request again.",
              retryAfterSeconds);
      case 502 -> error(Reason.UPSTREAM_BAD_GATEWAY);
      default -> error(status >= 500 ? Reason.UPSTREAM_STATUS : Reason.UPSTREAM_DENIED);
    };
  }

  private static Failure error(Reason reason) {
    return Failure.of(reason, "The model answered with an error. Send the request again.");
  }

  /** The upstream's own wait where it is sane, else 0: the default. RFC 9110 section 10.2.3. */
  static int retryAfterSeconds(ResponseHead head) {
    String value = head.headers().get(HttpHeaderNames.RETRY_AFTER, "");
    long seconds = isDate(value) ? secondsUntil(value, head) : seconds(value);
    return seconds >= 1 && seconds <= MAX_RETRY_AFTER_SECONDS ? (int) seconds : 0;
  }

  private static boolean isDate(String value) {
    return !value.isEmpty() && Character.isLetter(value.charAt(0));
  }

  /** From the upstream's own time where it tells that: its clock may be another. */
  private static long secondsUntil(String date, ResponseHead head) {
    Instant until = time(date);
    if (until == null) {
      return 0;
    }
    Instant told = time(head.headers().get(HttpHeaderNames.DATE, ""));
    long millis = Duration.between(told == null ? Instant.now() : told, until).toMillis();
    return Math.floorDiv(millis + 999, 1000L);
  }

  private static @Nullable Instant time(String httpDate) {
    Date time = httpDate.isEmpty() ? null : DateFormatter.parseHttpDate(httpDate);
    return time == null ? null : time.toInstant();
  }

  private static int seconds(String digits) {
    if (digits.isEmpty() || digits.length() > 4) {
      return 0;
    }
    int seconds = 0;
    for (int i = 0; i < digits.length(); i++) {
      int digit = digits.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return 0;
      }
      seconds = seconds * 10 + digit;
    }
    return seconds;
  }
}
