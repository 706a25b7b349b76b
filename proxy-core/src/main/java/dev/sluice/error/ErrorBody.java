package dev.sluice.error;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;

/**
 * The one JSON shape of every failure: {@code
 * {"error":{"message":"…","type":"…"},"request_id":"req_…"}}.
 */
public final class ErrorBody {
  private ErrorBody() {}

  /** The error body as UTF-8. The message is escaped here. */
  public static byte[] json(Failure failure, String requestId) {
    StringBuilder json = new StringBuilder(160 + failure.message().length());
    json.append("{\"error\":{\"message\":\"");
    JsonStringEncoder.getInstance().quoteAsString(failure.message(), json);
    json.append("\",\"type\":\"")
        .append(failure.reason().type().wireName())
        .append("\"},\"request_id\":\"")
        .append(requestId)
        .append("\"}");
    return json.toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * The error body as the last event of a stream that broke off.
   *
   * @param named whether the dialect names its events: {@code event: error} stands before the data
   */
  public static byte[] event(Failure failure, String requestId, boolean named) {
    String json = new String(json(failure, requestId), StandardCharsets.UTF_8);
    return ((named ? "event: error\ndata: " : "data: ") + json + "\n\n")
        .getBytes(StandardCharsets.UTF_8);
  }
}
