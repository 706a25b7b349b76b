package dev.sluice.sdk;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import java.net.URI;
import java.time.Duration;

/** Stock SDK clients, set up as a user does it, but for retries: a test wants the first answer. */
public final class SdkClients {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private SdkClients() {}

  /** OpenAI's, whose base URL carries the version. */
  public static OpenAIClient openAi(URI base, String key) {
    return OpenAIOkHttpClient.builder()
        .baseUrl(base + "/v1")
        .apiKey(key)
        .maxRetries(0)
        .timeout(TIMEOUT)
        .build();
  }

  /** Anthropic's, with the key as auth token and no API key. */
  public static AnthropicClient anthropic(URI base, String key) {
    return AnthropicOkHttpClient.builder()
        .baseUrl(base.toString())
        .authToken(key)
        .maxRetries(0)
        .timeout(TIMEOUT)
        .build();
  }
}
