package dev.sluice.error;

import static dev.sluice.error.Side.DOWNSTREAM;
import static dev.sluice.error.Side.PROXY;
import static dev.sluice.error.Side.UPSTREAM;

import java.util.Locale;

/**
 * Every way in which an exchange can fail. The order of the constants is the order of the contract:
 * of two failures of one request the earlier constant's is answered, as far as both are known.
 *
 * <p>A reason's label is its name in lower case; it is a metric label value and the access log's
 * {@code reason}, so a name is kept once it was released.
 */
public enum Reason {
  // 1. The request cannot be read as HTTP.
  HTTP_MALFORMED(400, ErrorType.INVALID_REQUEST, DOWNSTREAM),
  REQUEST_LINE_TOO_LONG(414, ErrorType.INVALID_REQUEST, DOWNSTREAM),
  HEADERS_TOO_LARGE(431, ErrorType.INVALID_REQUEST, DOWNSTREAM),
  HEAD_TIMEOUT(408, ErrorType.INVALID_REQUEST, DOWNSTREAM),

  // 2. Sluice takes no requests now.
  STARTING(503, ErrorType.OVERLOADED, PROXY),
  DRAINING(503, ErrorType.OVERLOADED, PROXY),
  /** An operator said so, for all models or for the one that is asked for. */
  MAINTENANCE(503, ErrorType.OVERLOADED, PROXY),
  CONNECTION_LIMIT(503, ErrorType.OVERLOADED, PROXY),
  EXCHANGE_LIMIT(503, ErrorType.OVERLOADED, PROXY),
  MEMORY_BUDGET(503, ErrorType.OVERLOADED, PROXY),

  // 3, 8. The body is over the bound, declared or arrived.
  BODY_TOO_LARGE(413, ErrorType.REQUEST_TOO_LARGE, DOWNSTREAM),

  // 4.
  CONTENT_TYPE(415, ErrorType.UNSUPPORTED_MEDIA_TYPE, DOWNSTREAM),

  // 5.
  KEY_MISSING(401, ErrorType.AUTHENTICATION, DOWNSTREAM),
  KEY_MALFORMED(401, ErrorType.AUTHENTICATION, DOWNSTREAM),
  KEY_UNKNOWN(401, ErrorType.AUTHENTICATION, DOWNSTREAM),
  KEY_EXPIRED(401, ErrorType.AUTHENTICATION, DOWNSTREAM),
  KEY_REVOKED(401, ErrorType.AUTHENTICATION, DOWNSTREAM),
  /** The directory of keys did not answer: nobody's fault but ours, and it passes. */
  KEY_DIRECTORY(503, ErrorType.OVERLOADED, PROXY),

  // 6.
  SUBSCRIPTION_INACTIVE(403, ErrorType.PERMISSION, DOWNSTREAM),

  // 7.
  PATH_UNKNOWN(404, ErrorType.NOT_FOUND, DOWNSTREAM),
  METHOD_NOT_ALLOWED(405, ErrorType.INVALID_REQUEST, DOWNSTREAM),
  EXPECTATION_UNKNOWN(400, ErrorType.INVALID_REQUEST, DOWNSTREAM),

  // 8, 9. The body.
  BODY_TIMEOUT(408, ErrorType.INVALID_REQUEST, DOWNSTREAM),
  JSON_MALFORMED(400, ErrorType.INVALID_REQUEST, DOWNSTREAM),
  REQUEST_SHAPE(400, ErrorType.INVALID_REQUEST, DOWNSTREAM),
  IMAGE(400, ErrorType.INVALID_REQUEST, DOWNSTREAM),

  // 10.
  MODEL_UNKNOWN(404, ErrorType.NOT_FOUND, DOWNSTREAM),
  MODEL_NOT_IN_PLAN(403, ErrorType.PERMISSION, DOWNSTREAM),

  // 11.
  SLOTS_OF_PLAN(429, ErrorType.RATE_LIMIT, DOWNSTREAM),
  SLOTS_OF_KEY(429, ErrorType.RATE_LIMIT, DOWNSTREAM),

  // 12. The model's upstream.
  /** No endpoint of the model is healthy. */
  UPSTREAM_NO_ENDPOINT(503, ErrorType.OVERLOADED, UPSTREAM),
  UPSTREAM_CONNECT(503, ErrorType.OVERLOADED, UPSTREAM, Retry.ELSEWHERE),
  UPSTREAM_CONNECT_TIMEOUT(503, ErrorType.OVERLOADED, UPSTREAM, Retry.ELSEWHERE),
  /** The upstream answered 503 itself. */
  UPSTREAM_UNAVAILABLE(503, ErrorType.OVERLOADED, UPSTREAM, Retry.ELSEWHERE),
  /** The upstream answered 429 itself. */
  UPSTREAM_RATE_LIMITED(503, ErrorType.OVERLOADED, UPSTREAM, Retry.ELSEWHERE),
  UPSTREAM_FIRST_BYTE_TIMEOUT(502, ErrorType.UPSTREAM, UPSTREAM),
  UPSTREAM_IDLE_TIMEOUT(502, ErrorType.UPSTREAM, UPSTREAM),
  /** The exchange took longer than it may as a whole. */
  EXCHANGE_TIMEOUT(502, ErrorType.UPSTREAM, UPSTREAM),
  /** Closed or reset before its answer was whole. */
  UPSTREAM_CLOSED(502, ErrorType.UPSTREAM, UPSTREAM, Retry.ELSEWHERE),
  /** A stream that ended in order, but without its terminator, or without a byte. */
  UPSTREAM_TRUNCATED(502, ErrorType.UPSTREAM, UPSTREAM),
  UPSTREAM_PROTOCOL(502, ErrorType.UPSTREAM, UPSTREAM),
  /** The upstream answered 502: itself a gateway, it could not reach what is behind it. */
  UPSTREAM_BAD_GATEWAY(502, ErrorType.UPSTREAM, UPSTREAM, Retry.ELSEWHERE),
  /** The upstream answered with another 5xx. */
  UPSTREAM_STATUS(502, ErrorType.UPSTREAM, UPSTREAM),
  /** The upstream answered 401, 403, 404 or another status that only its operator can mend. */
  UPSTREAM_DENIED(502, ErrorType.UPSTREAM, UPSTREAM),
  UPSTREAM_CONTENT_TYPE(502, ErrorType.UPSTREAM, UPSTREAM),
  UPSTREAM_ANSWER(502, ErrorType.UPSTREAM, UPSTREAM),
  /** The upstream refused the request's content (400, 415, 422): the caller can mend it. */
  UPSTREAM_REFUSED(400, ErrorType.INVALID_REQUEST, DOWNSTREAM),
  /** The upstream's own bound on a body (413). */
  UPSTREAM_REFUSED_SIZE(413, ErrorType.REQUEST_TOO_LARGE, DOWNSTREAM),

  /** The grace period of a shutdown ended while the answer was under way. */
  SHUTDOWN(503, ErrorType.OVERLOADED, PROXY),
  /** A fault of Sluice itself. */
  INTERNAL(500, ErrorType.API, PROXY);

  /** Whether the same request may be sent once more, as long as nothing of an answer was. */
  private enum Retry {
    NEVER,
    /** To another endpoint of the same model. */
    ELSEWHERE
  }

  private final int status;
  private final ErrorType type;
  private final Side side;
  private final Retry retry;
  private final String label;

  Reason(int status, ErrorType type, Side side) {
    this(status, type, side, Retry.NEVER);
  }

  Reason(int status, ErrorType type, Side side, Retry retry) {
    this.status = status;
    this.type = type;
    this.side = side;
    this.retry = retry;
    this.label = name().toLowerCase(Locale.ROOT);
  }

  /** The HTTP status of the answer. */
  public int status() {
    return status;
  }

  /** The category in the error body. */
  public ErrorType type() {
    return type;
  }

  /** Where the cause lies. */
  public Side side() {
    return side;
  }

  /** Whether another endpoint may be asked, as long as nothing of an answer was sent. */
  public boolean isRetriable() {
    return retry == Retry.ELSEWHERE;
  }

  /** The metric label value and the access log's word, in lower case. */
  public String label() {
    return label;
  }
}
