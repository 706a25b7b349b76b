package dev.sluice.config;

import java.util.Locale;

/** What becomes of the running streams of a key that is revoked. */
public enum Revoke {
  /** They go on to their end. */
  FINISH,
  /** They end with an error event, within two seconds of the change of the keys file. */
  CUT;

  /** As it stands in the configuration. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
