package dev.sluice.message;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Names and values that stand in most bodies: they are made once, and not for each. */
final class KnownWord {
  /** A power of two, with which each of the words below has a place of its own. */
  private static final int PLACES = 256;

  private static final String[] WORDS = {
    "arguments",
    "assistant",
    "base64",
    "cache_control",
    "choices",
    "completion_tokens",
    "content",
    "created",
    "data",
    "delta",
    "detail",
    "file",
    "finish_reason",
    "function",
    "id",
    "image",
    "image_url",
    "index",
    "input",
    "input_tokens",
    "max_completion_tokens",
    "max_tokens",
    "media_type",
    "message",
    "messages",
    "metadata",
    "model",
    "name",
    "object",
    "output_tokens",
    "prompt_tokens",
    "role",
    "source",
    "stop",
    "stop_reason",
    "stream",
    "stream_options",
    "system",
    "temperature",
    "text",
    "thinking",
    "tool",
    "tool_call_id",
    "tool_calls",
    "tool_choice",
    "tool_result",
    "tool_use",
    "tool_use_id",
    "tools",
    "top_p",
    "total_tokens",
    "type",
    "url",
    "usage",
    "user",
  };

  private static final String[] KNOWN = new String[PLACES];

  static {
    for (String word : WORDS) {
      byte[] bytes = word.getBytes(StandardCharsets.US_ASCII);
      KNOWN[place(bytes, 0, bytes.length)] = word;
    }
  }

  private KnownWord() {}

  /** The word that stands there; null where it is none of these. */
  static @Nullable String at(byte[] bytes, int from, int to) {
    int length = to - from;
    if (length == 0) {
      return null;
    }
    String known = KNOWN[place(bytes, from, length)];
    if (known == null || known.length() != length) {
      return null;
    }
    for (int i = 0; i < length; i++) {
      if (known.charAt(i) != bytes[from + i]) {
        return null;
      }
    }
    return known;
  }

  /** All of them. */
  static String[] all() {
    return WORDS.clone();
  }

  /** By length, first and last letter and one in between. */
  private static int place(byte[] bytes, int from, int length) {
    byte middle = bytes[from + length / 2];
    byte last = bytes[from + length - 1];
    return (bytes[from] + middle * 29 + last * 30 + length) & (PLACES - 1);
  }
}
