package dev.sluice.load;

import java.net.ProtocolException;

/**
 * The answer that a request asks the upstream for, in a header that proxies pass on.
 *
 * @param events how many events the stream has; 0 for an answer that is one JSON document
 * @param intervalMillis from one event to the next; 1 to {@value #MAX_INTERVAL_MILLIS}
 * @param bytes size of one event with its empty line, at least 20; or of the document
 */
public record AskedAnswer(int events, int intervalMillis, int bytes) {
  /** The smallest event: {@code data: }, a stamp, and an empty line. */
  public static final int MIN_EVENT_BYTES = 20;

  /** The longest time between two events. */
  public static final int MAX_INTERVAL_MILLIS = 10_000;

  static final String HEADER = "x-load-answer";

  public AskedAnswer {
    if (events < 0
        || intervalMillis < 1
        || intervalMillis > MAX_INTERVAL_MILLIS
        || bytes < MIN_EVENT_BYTES) {
      throw new IllegalArgumentException(
          "answer: " + events + " " + intervalMillis + " " + bytes + " (expected: see bounds)");
    }
  }

  boolean isStream() {
    return events > 0;
  }

  String toHeader() {
    return events + " " + intervalMillis + " " + bytes;
  }

  static AskedAnswer ofHeader(String value) throws ProtocolException {
    String[] numbers = value.split(" ", -1);
    try {
      return new AskedAnswer(
          Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]), Integer.parseInt(numbers[2]));
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      throw new ProtocolException(HEADER + ": " + value + " (expected: three numbers)");
    }
  }
}
