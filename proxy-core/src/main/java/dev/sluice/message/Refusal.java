package dev.sluice.message;

import dev.sluice.error.Failure;

/**
 * A request body that breaks a rule.
 *
 * @param failure the reason, and a message that names the JSON path and the rule
 */
public record Refusal(Failure failure) implements Inspection {}
