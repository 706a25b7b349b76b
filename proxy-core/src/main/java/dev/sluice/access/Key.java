package dev.sluice.access;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one bearer key. The key itself is never held.
 *
 * @param name the key's name, for logs; never the key
 * @param subscription the subscription that holds it
 * @param expires the first instant at which it is refused; null for never
 * @param revoked whether it was revoked
 */
public record Key(
    String name, Subscription subscription, @Nullable Instant expires, boolean revoked) {

  /** Whether it is refused at this instant because it has expired. */
  public boolean isExpiredAt(Instant now) {
    return expires != null && !now.isBefore(expires);
  }
}
