package dev.sluice.sdk;

import com.anthropic.models.messages.MessageCreateParams;
import com.openai.models.chat.completions.ChatCompletionCreateParams;

/** The shortest requests of both SDKs. */
final class Params {
  private Params() {}

  static ChatCompletionCreateParams.Builder chat(String model) {
    return ChatCompletionCreateParams.builder().model(model).addUserMessage("Hello there");
  }

  static MessageCreateParams.Builder messages(String model) {
    return MessageCreateParams.builder().model(model).maxTokens(1000).addUserMessage("Hello there");
  }
}
