package dev.sluice.cluster;

import java.util.Locale;

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

  /** Why it was left out. */
  public enum Cause {
    /** Too many failures in a row, or one on probation. */
    CONSECUTIVE_FAILURES,
    /** Too large a part of the attempts failed. */
    FAILURE_RATE,
    /** Probes said so. */
    PROBE,
    /** The upstream asked for it. */
    RETRY_AFTER,
    /** An operator said so. */
    OPERATOR;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The metric label value, in lower case. */
    public String label() {
      return label;
    }
  }

  private final Endpoint endpoint;
  private final String id;
  private final long idHash;
  private final Vitals vitals;
  private final Health health;

  LiveEndpoint(Endpoint endpoint, String id, Vitals vitals, Health health) {
    this.endpoint = endpoint;
    this.id = id;
    this.idHash = PrefixAffinity.hash(id);
    this.vitals = vitals;
    this.health = health;
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
   * Whether it is used, and if not, why.
   *
   * @param nowNanos the time, as {@link System#nanoTime()}
   */
  public State state(long nowNanos) {
    return vitals.condition.state(nowNanos);
  }

  /**
   * How long it is not used for a time that is known.
   *
   * @param nowNanos the time, as {@link System#nanoTime()}
   * @return nanoseconds; 0 where it is used
   */
  public long timeLeftNanos(long nowNanos) {
    return vitals.condition.timeLeftNanos(nowNanos);
  }

  /**
   * Whether the last attempts all failed or were refused, as many as have an endpoint left out, and
   * the last of them lately. It may be used nevertheless, where too few others are left.
   *
   * @param nowNanos the time, as {@link System#nanoTime()}
   */
  public boolean isFailing(long nowNanos) {
    return vitals.isFailing(nowNanos);
  }

  /** How often it was left out for this cause. */
  public long ejections(Cause cause) {
    return vitals.ejectionCount(cause).sum();
  }

  /** How many probes of it went well, or did not. */
  public long probes(boolean well) {
    return vitals.probeCount(well).sum();
  }

  /** Uses it no longer, until it is restored. What is under way at it goes on. */
  public void eject() {
    health.takeOut(this);
  }

  /** Uses it again, whatever was known against it; slowly at first where it was left out. */
  public void restore() {
    health.restore(this);
  }

  Vitals vitals() {
    return vitals;
  }

  /** Of its id; the same in every process. */
  long idHash() {
    return idHash;
  }

  @Override
  public String toString() {
    return id;
  }
}
