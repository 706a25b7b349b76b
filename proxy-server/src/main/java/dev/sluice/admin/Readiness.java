package dev.sluice.admin;

import java.util.Locale;

/** Whether new requests are taken. The label is the body of {@code /readyz}. */
public enum Readiness {
  /** Not yet: the process still warms itself. */
  STARTING,
  /** New requests are taken, but for models in maintenance. */
  READY,
  /** Not for now: all models are in maintenance. */
  MAINTENANCE,
  /** No longer: running answers finish, then the process ends. */
  DRAINING;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The name in lower case. */
  public String label() {
    return label;
  }
}
