/** Exchanges of sampled traces as OpenTelemetry spans, sent to a collector. */
@NullMarked
package dev.sluice.tracing;

import org.jspecify.annotations.NullMarked;
