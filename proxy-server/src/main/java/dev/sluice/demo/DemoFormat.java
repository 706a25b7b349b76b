package dev.sluice.demo;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.sluice.message.Operation;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/** The shapes in which one dialect carries an answer. Stateless. */
sealed interface DemoFormat permits ChatCompletionsFormat, MessagesFormat {

  /** An error body. */
  String error(String type, String message);

  /** The whole answer as one JSON object. */
  String whole(DemoAnswer answer);

  /** The events before the first word. */
  String start(DemoAnswer answer);

  /** The event that carries one word. */
  String word(DemoAnswer answer, String delta);

  /** The events after the last word. */
  String end(DemoAnswer answer);

  /** Whether an operation is served under this path. */
  static boolean isOperation(String path) {
    return Operation.BUILT_IN.stream().anyMatch(operation -> operation.path().equals(path));
  }

  /** The format of a path; that of Chat Completions where no operation is served under it. */
  static DemoFormat ofPath(String path) {
    return path.equals(Operation.MESSAGES.path())
        ? MessagesFormat.INSTANCE
        : ChatCompletionsFormat.INSTANCE;
  }

  /** Writes the fields of one JSON object. */
  @FunctionalInterface
  interface Fields {
    void write(JsonGenerator json) throws IOException;
  }

  /** One JSON object on one line. */
  static String object(Fields fields) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JsonHolder.JSON.createGenerator(text)) {
      json.writeStartObject();
      fields.write(json);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("memory is always writable", e);
    }
    return text.toString();
  }

  /** Keeps the factory out of the interface's constants. */
  final class JsonHolder {
    private static final JsonFactory JSON = new JsonFactory();

    private JsonHolder() {}
  }
}
