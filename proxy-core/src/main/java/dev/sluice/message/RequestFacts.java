package dev.sluice.message;

/**
 * What the proxy acts on in a valid request body.
 *
 * @param model the model id, unescaped, not empty; of one longer than any configured id, its first
 *     1,024 characters
 * @param stream whether {@code stream} is {@code true}
 * @param modelStart offset in the body of the opening quote of the {@code model} value
 * @param modelEnd offset in the body just after the closing quote of the {@code model} value
 * @param prefixStart offset in the body of the first message
 * @param prefixEnd offset in the body just after the first message whose role is {@code user}, or
 *     after the last one where none is; equal to {@code prefixStart} where there are no messages
 */
public record RequestFacts(
    String model, boolean stream, int modelStart, int modelEnd, int prefixStart, int prefixEnd)
    implements Inspection {}
