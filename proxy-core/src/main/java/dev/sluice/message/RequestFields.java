package dev.sluice.message;

import static dev.sluice.message.JsonType.ARRAY;
import static dev.sluice.message.JsonType.BOOLEAN;
import static dev.sluice.message.JsonType.INTEGER;
import static dev.sluice.message.JsonType.NULL;
import static dev.sluice.message.JsonType.NUMBER;
import static dev.sluice.message.JsonType.OBJECT;
import static dev.sluice.message.JsonType.STRING;
import static java.util.Map.entry;

import java.util.Map;

/**
 * The top-level fields that the public APIs define, and the JSON types that each may have. {@code
 * model}, {@code messages} and {@code stream} have rules of their own and are not here.
 */
final class RequestFields {

  /** OpenAI, POST /v1/chat/completions. */
  private static final Map<String, Integer> CHAT_COMPLETIONS =
      Map.ofEntries(
          entry("audio", OBJECT | NULL),
          entry("frequency_penalty", NUMBER | NULL),
          entry("function_call", STRING | OBJECT),
          entry("functions", ARRAY),
          entry("logit_bias", OBJECT | NULL),
          entry("logprobs", BOOLEAN | NULL),
          entry("max_completion_tokens", INTEGER | NULL),
          entry("max_tokens", INTEGER | NULL),
          entry("metadata", OBJECT | NULL),
          entry("modalities", ARRAY | NULL),
          entry("moderation", OBJECT | NULL),
          entry("n", INTEGER | NULL),
          entry("parallel_tool_calls", BOOLEAN),
          entry("prediction", OBJECT | NULL),
          entry("presence_penalty", NUMBER | NULL),
          entry("prompt_cache_key", STRING | NULL),
          entry("prompt_cache_options", OBJECT),
          entry("prompt_cache_retention", STRING | NULL),
          entry("reasoning_effort", STRING | NULL),
          entry("response_format", OBJECT),
          entry("safety_identifier", STRING | NULL),
          entry("seed", INTEGER | NULL),
          entry("service_tier", STRING | NULL),
          entry("stop", STRING | ARRAY | NULL),
          entry("store", BOOLEAN | NULL),
          entry("stream_options", OBJECT | NULL),
          entry("temperature", NUMBER | NULL),
          // The reference has no null for these two; the service takes it as absent.
          entry("tool_choice", STRING | OBJECT | NULL),
          entry("tools", ARRAY | NULL),
          entry("top_logprobs", INTEGER | NULL),
          entry("top_p", NUMBER | NULL),
          entry("user", STRING | NULL),
          entry("verbosity", STRING | NULL),
          entry("web_search_options", OBJECT));

  /** Anthropic, POST /v1/messages, with the fields of its betas. */
  private static final Map<String, Integer> MESSAGES =
      Map.ofEntries(
          entry("billing_policy", OBJECT | NULL),
          entry("cache_control", OBJECT | NULL),
          entry("compaction", OBJECT | NULL),
          entry("container", STRING | OBJECT | NULL),
          entry("context_management", OBJECT | NULL),
          entry("diagnostics", OBJECT | NULL),
          entry("fallback_credit_token", STRING | OBJECT | NULL),
          entry("fallbacks", STRING | ARRAY | NULL),
          entry("inference_geo", STRING | NULL),
          entry("max_tokens", INTEGER),
          entry("mcp_servers", ARRAY),
          entry("metadata", OBJECT),
          entry("output_config", OBJECT),
          entry("output_format", OBJECT | NULL),
          entry("service_tier", STRING),
          entry("speed", STRING | NULL),
          entry("stop_sequences", ARRAY),
          entry("system", STRING | ARRAY),
          entry("temperature", NUMBER),
          entry("thinking", OBJECT),
          entry("thread", OBJECT | NULL),
          entry("tool_choice", OBJECT),
          entry("tools", ARRAY),
          entry("top_k", INTEGER),
          entry("top_p", NUMBER),
          entry("user_profile_id", STRING | NULL));

  private RequestFields() {}

  /** The {@link JsonType} bits that a field may have; 0 where the dialect does not define it. */
  static int types(Dialect dialect, String name) {
    return of(dialect).getOrDefault(name, 0);
  }

  static Map<String, Integer> of(Dialect dialect) {
    return switch (dialect) {
      case CHAT_COMPLETIONS -> CHAT_COMPLETIONS;
      case MESSAGES -> MESSAGES;
      case OTHER -> Map.of();
    };
  }
}
