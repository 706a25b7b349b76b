package dev.sluice.config;

import dev.sluice.cluster.Endpoint;
import org.jspecify.annotations.Nullable;

/**
 * Whether and where spans of sampled traces are sent.
 *
 * @param collector where OTLP is taken over HTTP; null where no spans are sent
 * @param sample the share of traces begun here that are sampled, 0 to 1
 */
public record Tracing(@Nullable Endpoint collector, double sample) {
  /** No spans. */
  public static final Tracing NONE = new Tracing(null, 0);

  /** {@code sample} of a section that does not say. */
  public static final double DEFAULT_SAMPLE = 0.1;

  /** As it is told: {@code none}, or the collector and the share. */
  @Override
  public String toString() {
    return collector == null ? "none" : collector + ", sample " + sample;
  }
}
