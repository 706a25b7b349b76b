package dev.sluice.page;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;

/**
 * A whole answer, all text.
 *
 * @param status its HTTP status
 * @param contentType what the body is
 * @param headers headers beside those of every answer
 * @param body its body, sent as UTF-8
 */
public record Reply(int status, String contentType, Map<String, String> headers, String body) {
  /** The content type of one line for people and probes. */
  public static final String PLAIN_TEXT = "text/plain; charset=utf-8";

  private static final String JSON_TYPE = "application/json";
  private static final JsonFactory JSON = new JsonFactory();

  /** Writes the members of an object. */
  public interface Members {
    /** Writes them. */
    void to(JsonGenerator json) throws IOException;
  }

  /** What is true now. */
  public static Reply ok(Members members) {
    return json(200, object(members));
  }

  /** What is true now, where that is JSON text already. */
  public static Reply json(int status, String text) {
    return new Reply(status, JSON_TYPE, Map.of(), text);
  }

  /** One line of text. */
  public static Reply text(int status, String line) {
    return new Reply(status, PLAIN_TEXT, Map.of(), line + "\n");
  }

  /** A refusal, with its reason. */
  public static Reply refused(int status, String reason) {
    return json(status, object(json -> json.writeStringField("error", reason)));
  }

  /** The refusal of a method. */
  public static Reply notAllowed(String allow) {
    return refused(405, "no such method (expected: " + allow + ")").with("allow", allow);
  }

  /** With one header, and no other. */
  public Reply with(String name, String value) {
    return new Reply(status, contentType, Map.of(name, value), body);
  }

  /** The text of one JSON object, and the end of its line. */
  public static String object(Members members) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartObject();
      members.to(json);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory does not fail", e);
    }
    return text + "\n";
  }
}
