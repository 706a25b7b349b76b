package dev.sluice.demo;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Answers of OpenAI's Chat Completions: unnamed events, the last of them {@code [DONE]}. */
final class ChatCompletionsFormat implements DemoFormat {
  static final ChatCompletionsFormat INSTANCE = new ChatCompletionsFormat();

  private ChatCompletionsFormat() {}

  @Override
  public String error(String type, String message) {
    return DemoFormat.object(
        json -> {
          json.writeObjectFieldStart("error");
          json.writeStringField("message", message);
          json.writeStringField("type", type);
          json.writeNullField("param");
          json.writeNullField("code");
          json.writeEndObject();
        });
  }

  @Override
  public String whole(DemoAnswer answer) {
    return DemoFormat.object(
        json -> {
          head(json, answer, "chat.completion");
          json.writeArrayFieldStart("choices");
          json.writeStartObject();
          json.writeNumberField("index", 0);
          json.writeObjectFieldStart("message");
          json.writeStringField("role", "assistant");
          json.writeStringField("content", answer.text());
          json.writeNullField("refusal");
          json.writeEndObject();
          json.writeNullField("logprobs");
          json.writeStringField("finish_reason", finishReason(answer));
          json.writeEndObject();
          json.writeEndArray();
          usage(json, answer);
        });
  }

  @Override
  public String start(DemoAnswer answer) {
    return chunk(
        answer,
        null,
        delta -> {
          delta.writeStringField("role", "assistant");
          delta.writeStringField("content", "");
        });
  }

  @Override
  public String word(DemoAnswer answer, String word) {
    return chunk(answer, null, delta -> delta.writeStringField("content", word));
  }

  @Override
  public String end(DemoAnswer answer) {
    StringBuilder events = new StringBuilder(chunk(answer, finishReason(answer), delta -> {}));
    if (answer.request().usageWanted()) {
      events.append(
          event(
              json -> {
                head(json, answer, "chat.completion.chunk");
                json.writeArrayFieldStart("choices");
                json.writeEndArray();
                usage(json, answer);
              }));
    }
    return events.append("data: [DONE]\n\n").toString();
  }

  private static String chunk(DemoAnswer answer, @Nullable String finishReason, Fields delta) {
    return event(
        json -> {
          head(json, answer, "chat.completion.chunk");
          json.writeArrayFieldStart("choices");
          json.writeStartObject();
          json.writeNumberField("index", 0);
          json.writeObjectFieldStart("delta");
          delta.write(json);
          json.writeEndObject();
          json.writeNullField("logprobs");
          json.writeStringField("finish_reason", finishReason);
          json.writeEndObject();
          json.writeEndArray();
          if (answer.request().usageWanted()) {
            json.writeNullField("usage");
          }
        });
  }

  private static String event(Fields fields) {
    return "data: " + DemoFormat.object(fields) + "\n\n";
  }

  private static void head(JsonGenerator json, DemoAnswer answer, String object)
      throws IOException {
    json.writeStringField("id", "chatcmpl-" + answer.id());
    json.writeStringField("object", object);
    json.writeNumberField("created", answer.created());
    json.writeStringField("model", answer.request().model());
  }

  private static void usage(JsonGenerator json, DemoAnswer answer) throws IOException {
    int prompt = answer.request().inputWords();
    int completion = answer.words().size();
    json.writeObjectFieldStart("usage");
    json.writeNumberField("prompt_tokens", prompt);
    json.writeNumberField("completion_tokens", completion);
    json.writeNumberField("total_tokens", prompt + completion);
    json.writeEndObject();
  }

  private static String finishReason(DemoAnswer answer) {
    return answer.cut() ? "length" : "stop";
  }
}
