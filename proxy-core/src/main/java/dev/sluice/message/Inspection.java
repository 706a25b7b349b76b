package dev.sluice.message;

/** What the inspection of a request body came to: its facts, or why it is refused. */
public sealed interface Inspection permits RequestFacts, Refusal {}
