package dev.sluice.message;

/** Whose request fields and stream events an operation speaks. */
public enum Dialect {
  /** OpenAI Chat Completions: its top-level fields; events have no name. */
  CHAT_COMPLETIONS,
  /** Anthropic Messages: its top-level fields; every event is named. */
  MESSAGES,
  /** An operation added by configuration: only the fields that Sluice acts on are checked. */
  OTHER
}
