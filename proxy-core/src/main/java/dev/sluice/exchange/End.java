package dev.sluice.exchange;

import java.util.Locale;

/** How an exchange ended. The label is a metric label value and the access log's {@code end}. */
public enum End {
  /** The whole answer was written: the upstream's, or one of ours. */
  DONE,
  /** The client went away before it had the whole answer. */
  CLIENT,
  /** The upstream broke the answer off after its head had been sent on. */
  UPSTREAM,
  /** The upstream fell silent after the answer's head had been sent on. */
  TIMEOUT,
  /** The deadline of a drain, or of a shutdown, came first. */
  SHUTDOWN,
  /** The caller's key was revoked while the answer was under way. */
  REVOKED;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The name in lower case. */
  public String label() {
    return label;
  }
}
