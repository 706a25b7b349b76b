package dev.sluice.demo;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/** Answers of Anthropic's Messages: named events, from {@code message_start} to its stop. */
final class MessagesFormat implements DemoFormat {
  static final MessagesFormat INSTANCE = new MessagesFormat();

  private MessagesFormat() {}

  @Override
  public String error(String type, String message) {
    return DemoFormat.object(
        json -> {
          json.writeStringField("type", "error");
          json.writeObjectFieldStart("error");
          json.writeStringField("type", type);
          json.writeStringField("message", message);
          json.writeEndObject();
        });
  }

  @Override
  public String whole(DemoAnswer answer) {
    return DemoFormat.object(
        json -> {
          head(json, answer);
          json.writeArrayFieldStart("content");
          json.writeStartObject();
          json.writeStringField("type", "text");
          json.writeStringField("text", answer.text());
          json.writeEndObject();
          json.writeEndArray();
          json.writeStringField("stop_reason", stopReason(answer));
          json.writeNullField("stop_sequence");
          usage(json, answer, answer.words().size());
        });
  }

  @Override
  public String start(DemoAnswer answer) {
    return event(
            "message_start",
            json -> {
              json.writeObjectFieldStart("message");
              head(json, answer);
              json.writeArrayFieldStart("content");
              json.writeEndArray();
              json.writeNullField("stop_reason");
              json.writeNullField("stop_sequence");
              usage(json, answer, 1);
              json.writeEndObject();
            })
        + event(
            "content_block_start",
            json -> {
              json.writeNumberField("index", 0);
              json.writeObjectFieldStart("content_block");
              json.writeStringField("type", "text");
              json.writeStringField("text", "");
              json.writeEndObject();
            })
        + event("ping", json -> {});
  }

  @Override
  public String word(DemoAnswer answer, String word) {
    return event(
        "content_block_delta",
        json -> {
          json.writeNumberField("index", 0);
          json.writeObjectFieldStart("delta");
          json.writeStringField("type", "text_delta");
          json.writeStringField("text", word);
          json.writeEndObject();
        });
  }

  @Override
  public String end(DemoAnswer answer) {
    return event("content_block_stop", json -> json.writeNumberField("index", 0))
        + event(
            "message_delta",
            json -> {
              json.writeObjectFieldStart("delta");
              json.writeStringField("stop_reason", stopReason(answer));
              json.writeNullField("stop_sequence");
              json.writeEndObject();
              json.writeObjectFieldStart("usage");
              json.writeNumberField("output_tokens", answer.words().size());
              json.writeEndObject();
            })
        + event("message_stop", json -> {});
  }

  private static String event(String type, Fields fields) {
    return "event: "
        + type
        + "\ndata: "
        + DemoFormat.object(
            json -> {
              json.writeStringField("type", type);
              fields.write(json);
            })
        + "\n\n";
  }

  private static void head(JsonGenerator json, DemoAnswer answer) throws IOException {
    json.writeStringField("id", "msg_" + answer.id());
    json.writeStringField("type", "message");
    json.writeStringField("role", "assistant");
    json.writeStringField("model", answer.request().model());
  }

  private static void usage(JsonGenerator json, DemoAnswer answer, int outputTokens)
      throws IOException {
    json.writeObjectFieldStart("usage");
    json.writeNumberField("input_tokens", answer.request().inputWords());
    json.writeNumberField("output_tokens", outputTokens);
    json.writeEndObject();
  }

  private static String stopReason(DemoAnswer answer) {
    return answer.cut() ? "max_tokens" : "end_turn";
  }
}
