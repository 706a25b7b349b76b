package dev.sluice.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;

/**
 * An answer to an operator, in JSON.
 *
 * @param status its HTTP status
 * @param headers headers beside those of every answer
 * @param json its body
 */
record Reply(int status, Map<String, String> headers, String json) {
  private static final JsonFactory JSON = new JsonFactory();

  /** Writes the members of an object. */
  interface Members {
    void to(JsonGenerator json) throws IOException;
  }

  /** What is true now. */
  static Reply ok(Members members) {
    return new Reply(200, Map.of(), object(members));
  }

  /** A refusal, with its reason. */
  static Reply refused(int status, String reason) {
    return new Reply(status, Map.of(), object(json -> json.writeStringField("error", reason)));
  }

  /** With a header. */
  Reply with(String name, String value) {
    return new Reply(status, Map.of(name, value), json);
  }

  private static String object(Members members) {
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
