package dev.sluice.cluster;

/**
 * One endpoint of one model, with its live load and health. Both outlive a reload of the
 * configuration as long as the endpoint differs in nothing but its weight. Safe for all threads.
 */
public final class LiveEndpoint {
  /** Whether it is used, and if not, why. */
  public enum State {
    /** Used. */
    HEALTHY,
    /** Not used for a time, because attempts at it failed. */
    EJECTED,
    /** Not used until probes of it go well again. */
    UNWELL,
    /** Not used for the time that the upstream asked for by its {@code Retry-After}. */
    SET_ASIDE,
    /** Not used until an operator says so. */
    OUT
  }

  private final Endpoint endpoint;
  private final String id;
  private final Vitals vitals;

  LiveEndpoint(Endpoint endpoint, String id, Vitals vitals) {
    this.endpoint = endpoint;
    this.id = id;
    this.vitals = vitals;
  }

  /** Where it is. */
  public Endpoint endpoint() {
    return endpoint;
  }

  /**
   * Names it among the endpoints of its model, in metrics, logs and admin calls: authority and base
   * path; of a second one at the same place, with {@code ~2} behind it.
   */
  public String id() {
    return id;
  }

  /** How many attempts are under way at it. */
  public int openExchanges() {
    return vitals.open();
  }

  /**
   * Whether it is used, and if not, why; of several reasons the one that lasts longest.
   *
   * @param nowNanos the time, as {@link System#nanoTime()}
   */
  public State state(long nowNanos) {
    return vitals.state(nowNanos);
  }

  /** Uses it no longer, until it is restored. What is under way at it goes on. */
  public void eject() {
    vitals.out(true);
  }

  /** Uses it again, whatever was known against it. */
  public void restore() {
    vitals.out(false);
  }

  Vitals vitals() {
    return vitals;
  }

  @Override
  public String toString() {
    return id;
  }
}
