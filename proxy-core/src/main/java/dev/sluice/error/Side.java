package dev.sluice.error;

/** Where the cause of a failure lies. */
public enum Side {
  /** The caller's request or connection. */
  DOWNSTREAM,
  /** Sluice itself: its limits, its state, its faults. */
  PROXY,
  /** The model's upstream. */
  UPSTREAM
}
