package dev.sluice.message;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;

/**
 * Ends a scan at the first broken rule. Never leaves this package, and has no stack trace: what is
 * wrong is in the body, not in the code.
 */
final class Refused extends RuntimeException {
  private final transient Failure failure;

  Refused(Reason reason, String message) {
    super(message, null, false, false);
    this.failure = Failure.of(reason, message);
  }

  Failure failure() {
    return failure;
  }
}
