package dev.sluice.error;

import org.jspecify.annotations.Nullable;

/**
 * One failure of one exchange: the reason, and the words for the caller. Not an exception: expected
 * failures are values, and have no stack trace.
 *
 * @param reason what went wrong
 * @param message what the caller reads; says what to do, and holds no key, host name or address
 * @param retryAfterSeconds the answer's {@code Retry-After}, at least 1; 0 for none. Always set
 *     where the status is 503.
 * @param allow the answer's {@code Allow} header, where the status is 405
 */
public record Failure(
    Reason reason, String message, int retryAfterSeconds, @Nullable String allow) {

  /** The {@code Retry-After} of a 503 for which nothing better is known, in seconds. */
  public static final int DEFAULT_RETRY_AFTER_SECONDS = 5;

  /** Refuses a negative wait, and gives every 503 a {@code Retry-After}. */
  public Failure {
    if (retryAfterSeconds < 0) {
      throw new IllegalArgumentException(
          "retryAfterSeconds: " + retryAfterSeconds + " (expected: >= 0)");
    }
    if (retryAfterSeconds == 0 && reason.status() == 503) {
      retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS;
    }
  }

  /** A failure with no header of its own but the default {@code Retry-After} of a 503. */
  public static Failure of(Reason reason, String message) {
    return new Failure(reason, message, 0, null);
  }

  /** A failure after which the caller is asked to wait. */
  public static Failure retryAfter(Reason reason, String message, int seconds) {
    return new Failure(reason, message, seconds, null);
  }

  /** A 405 with the methods that the path takes, as the {@code Allow} header lists them. */
  public static Failure methodNotAllowed(String message, String allow) {
    return new Failure(Reason.METHOD_NOT_ALLOWED, message, 0, allow);
  }
}
