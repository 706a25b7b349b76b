package dev.sluice.message;

import dev.sluice.sse.Terminator;

/** Whose request fields and stream events an operation speaks. */
public enum Dialect {
  /** OpenAI Chat Completions: its top-level fields; events have no name. */
  CHAT_COMPLETIONS(Terminator.DONE),
  /** Anthropic Messages: its top-level fields; every event is named. */
  MESSAGES(Terminator.MESSAGE_STOP),
  /** An operation added by configuration: only the fields that Sluice acts on are checked. */
  OTHER(Terminator.NONE);

  private final Terminator terminator;

  Dialect(Terminator terminator) {
    this.terminator = terminator;
  }

  /** The line without which a stream of events has not come whole. */
  public Terminator terminator() {
    return terminator;
  }
}
