package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import org.jspecify.annotations.Nullable;

/** Refuses a body whose declared length is over the bound, before a byte of it is read: 413. */
final class BodySize extends Rule {
  @Override
  @Nullable Failure check(Exchange exchange) {
    int maxBytes = exchange.snapshot().limits().maxBodyBytes();
    return exchange.declaredBodyBytes() > maxBytes ? tooLarge(maxBytes) : null;
  }

  /** The failure of a body that is over the bound, declared or arrived. */
  static Failure tooLarge(int maxBytes) {
    return Failure.of(
        Reason.BODY_TOO_LARGE,
        "The request body is larger than "
            + maxBytes
            + " bytes. Very large images are the usual cause: send smaller ones.");
  }
}
