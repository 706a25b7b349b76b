package dev.sluice.cluster;

import dev.sluice.cluster.LiveEndpoint.State;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Whether an endpoint is used at a time, and how much. Immutable: a pick reads it whole.
 *
 * @param out whether an operator said not to use it
 * @param unwell whether probes said so
 * @param ejectedUntil when its ejection ends; null where it is not ejected
 * @param setAsideUntil when the wait ends that its upstream asked for; null where it did not
 * @param rested whether it may be used again and was not since: its slow start begins with the next
 *     pick, however late that comes
 * @param rampFrom when its slow start began; null where it is past
 */
record Condition(
    boolean out,
    boolean unwell,
    @Nullable Long ejectedUntil,
    @Nullable Long setAsideUntil,
    boolean rested,
    @Nullable Long rampFrom) {

  /** How long a slow start takes: as long as a model server needs to fill its caches again. */
  static final long SLOW_START_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** The part of its weight that an endpoint begins a slow start with. */
  static final double SLOW_START_SHARE = 0.1;

  /** Used, with its whole weight. */
  static final Condition PLAIN = new Condition(false, false, null, null, false, null);

  State state(long nowNanos) {
    if (out) {
      return State.OUT;
    }
    if (unwell) {
      return State.UNWELL;
    }
    long ejected = left(ejectedUntil, nowNanos);
    long setAside = left(setAsideUntil, nowNanos);
    if (ejected <= 0 && setAside <= 0) {
      return State.HEALTHY;
    }
    return ejected >= setAside ? State.EJECTED : State.SET_ASIDE;
  }

  boolean isUsable(long nowNanos) {
    return state(nowNanos) == State.HEALTHY;
  }

  /** Whether it is used with its whole weight, and time will change nothing of that. */
  boolean isPlain() {
    return !out && !unwell && !isTimed() && !rested && rampFrom == null;
  }

  /** How long it is left out for a time that is known; 0 where it is not. */
  long timeLeftNanos(long nowNanos) {
    return Math.max(0, Math.max(left(ejectedUntil, nowNanos), left(setAsideUntil, nowNanos)));
  }

  private static long left(@Nullable Long untilNanos, long nowNanos) {
    return untilNanos == null ? 0 : untilNanos - nowNanos;
  }

  /** The part of its weight that counts. */
  double share(long nowNanos) {
    if (rampFrom == null) {
      return 1;
    }
    double passed = (double) Math.max(0, nowNanos - rampFrom) / SLOW_START_NANOS;
    return Math.min(1, SLOW_START_SHARE + (1 - SLOW_START_SHARE) * passed);
  }

  boolean isSetAside(long nowNanos) {
    return left(setAsideUntil, nowNanos) > 0;
  }

  // What may happen to it.

  Condition ejected(long untilNanos) {
    return new Condition(out, unwell, untilNanos, setAsideUntil, false, null);
  }

  Condition setAside(long untilNanos) {
    long later =
        setAsideUntil == null || untilNanos - setAsideUntil > 0 ? untilNanos : setAsideUntil;
    return new Condition(out, unwell, ejectedUntil, later, false, null);
  }

  Condition foundUnwell() {
    return new Condition(out, true, ejectedUntil, setAsideUntil, false, null);
  }

  Condition foundWell() {
    return new Condition(out, false, ejectedUntil, setAsideUntil, true, null);
  }

  Condition takenOut() {
    return new Condition(true, unwell, ejectedUntil, setAsideUntil, false, null);
  }

  /** By an operator: whatever was known against it. */
  Condition restored() {
    return out || unwell || isTimed() ? new Condition(false, false, null, null, true, null) : this;
  }

  /** What time has made of it, now that it may be picked; itself where nothing. */
  Condition settled(long nowNanos) {
    if (!isUsable(nowNanos)) {
      return this;
    }
    if (isTimed() || rested) {
      return new Condition(false, false, null, null, false, nowNanos);
    }
    return rampFrom != null && nowNanos - rampFrom >= SLOW_START_NANOS ? PLAIN : this;
  }

  /** Whether it is left out for a time, or was, and has not been picked since. */
  boolean isTimed() {
    return ejectedUntil != null || setAsideUntil != null;
  }
}
