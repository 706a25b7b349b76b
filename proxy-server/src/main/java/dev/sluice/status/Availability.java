package dev.sluice.status;

import java.util.Locale;

/** Whether a model answers, from best to worst. */
public enum Availability {
  /** It answers. */
  AVAILABLE,
  /** It answers, but some of its endpoints are left out or fail. */
  DEGRADED,
  /** An operator has taken it out of service for a while. */
  MAINTENANCE,
  /** None of its endpoints answers, or Sluice takes no requests. */
  UNAVAILABLE;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The name in lower case. */
  public String label() {
    return label;
  }

  /** Its letter in a history. */
  char letter() {
    return label.charAt(0);
  }
}
