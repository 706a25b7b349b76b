package dev.sluice.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Json;
import java.util.Map;
import java.util.Objects;

/** The one shape of every error, checked whole. */
final class Errors {
  private static final Map<Integer, String> TYPES =
      Map.ofEntries(
          Map.entry(400, "invalid_request_error"),
          Map.entry(401, "authentication_error"),
          Map.entry(403, "permission_error"),
          Map.entry(404, "not_found_error"),
          Map.entry(405, "invalid_request_error"),
          Map.entry(408, "invalid_request_error"),
          Map.entry(413, "request_too_large"),
          Map.entry(414, "invalid_request_error"),
          Map.entry(415, "unsupported_media_type"),
          Map.entry(429, "rate_limit_error"),
          Map.entry(431, "invalid_request_error"),
          Map.entry(502, "upstream_error"),
          Map.entry(503, "overloaded_error"));

  private Errors() {}

  /** Holds status, headers and whole body of an error, and gives its message. */
  static String assertError(Answer answer, int status) {
    assertThat(answer.status()).as("status of %s", answer).isEqualTo(status);
    assertThat(answer.ending()).as("ending of %s", answer).isEqualTo(Ending.WHOLE);
    assertThat(answer.header("content-type")).isEqualTo("application/json");
    String message = assertShape(answer.text(), status, answer.header("x-request-id"));
    if (status == 401) {
      assertThat(answer.header("www-authenticate")).isEqualTo("Bearer");
    }
    if (status == 405) {
      assertThat(answer.header("allow")).isNotBlank();
    }
    if (status == 429) {
      assertThat(answer.header("retry-after")).matches("[1-9]|[1-5][0-9]|60");
      assertThat(answer.header("x-ratelimit-limit-streams")).matches("[1-9][0-9]*");
      assertThat(answer.header("x-ratelimit-remaining-streams")).isEqualTo("0");
    }
    if (status == 503) {
      assertThat(answer.header("retry-after")).matches("[1-9][0-9]{0,4}");
    }
    return message;
  }

  /**
   * Holds the last event of a stream that was broken off, as the last of these events. Empty lines
   * may follow it: they mean nothing, and can fill a chunk that was begun.
   */
  static void assertErrorEvent(String events, boolean named, int status, String requestId) {
    assertThat(events).as("events").endsWith("\n\n").doesNotContain("[DONE]");
    String prefix = named ? "event: error\ndata: " : "data: ";
    String stripped = events.stripTrailing();
    int start = stripped.lastIndexOf(prefix + "{\"error\":");
    assertThat(start).as("start of the error event in %s", events).isPositive();
    assertThat(stripped.substring(0, start))
        .as("events before")
        .matches("(?s).*(\n\n|\r\r|\n\r\n?)");
    assertShape(stripped.substring(start + prefix.length()), status, requestId);
  }

  private static String assertShape(String json, int status, String requestId) {
    Map<String, Object> body = Json.object(json);
    assertThat(body.keySet()).as("names in %s", json).containsExactly("error", "request_id");
    assertThat(requestId).matches("req_[0-9A-Za-z_-]{8,64}");
    assertThat(body.get("request_id")).isEqualTo(requestId);
    Map<String, Object> error = Json.object(body, "error");
    assertThat(error.keySet()).as("names in %s", json).containsExactly("message", "type");
    assertThat(error.get("type")).isEqualTo(TYPES.get(status));
    String message = Objects.toString(error.get("message"));
    assertThat(message).isNotBlank().hasSizeLessThan(2000);
    assertThat(message)
        .doesNotContain("sk-test", "127.0.0.1", "dev.sluice", "io.netty", "Exception");
    return message;
  }
}
