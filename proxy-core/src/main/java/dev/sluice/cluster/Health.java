package dev.sluice.cluster;

import dev.sluice.cluster.LiveEndpoint.Cause;
import dev.sluice.cluster.RecentOutcomes.Kind;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which endpoints of one model are left out, and for how long. Outlives a reload of the
 * configuration. Safe for all threads.
 *
 * <table>
 *   <caption>The rules' figures, and why</caption>
 *   <tr><th>what</th><th>figure</th><th>reason</th></tr>
 *   <tr><td>failures in a row that eject</td><td>5</td>
 *     <td>one broken stream says little; five and not one answer between them say enough, soon
 *     enough under little traffic</td></tr>
 *   <tr><td>part of the outcomes that ejects</td><td>50 % of at least 20 within 10 s</td>
 *     <td>an endpoint may fail often without failing five times in a row; 20, so that chance does
 *     not eject</td></tr>
 *   <tr><td>first ejection</td><td>5 s</td>
 *     <td>longer than a hiccup, shorter than the patience of a caller who waits for Retry-After
 *     </td></tr>
 *   <tr><td>each further one</td><td>twice as long, at most 5 min</td>
 *     <td>a restart that loads weights takes minutes; longer would punish one that has come back
 *     </td></tr>
 *   <tr><td>one ejection is forgotten</td><td>after each 60 s of doing well</td>
 *     <td>one that fails every minute keeps its count, one that failed an hour ago has none</td>
 *     </tr>
 *   <tr><td>left out at once by failures or by Retry-After</td><td>half of the cluster, rounded
 *     down, whatever the rest is left out for</td>
 *     <td>where more fail the fault is likely not theirs, and the rest would be toppled; a single
 *     endpoint is never ejected</td></tr>
 *   <tr><td>passed over for others</td><td>250 ms after a failure or refusal, twice as long after
 *     each further one in a row, at most 5 s</td>
 *     <td>one that refuses at once has nothing open and would get everything, where the bound of
 *     half a cluster keeps it in; it is no part of that bound, for it is picked where no other can
 *     be</td></tr>
 *   <tr><td>slow start</td><td>10 % to 100 % of its weight in 30 s</td>
 *     <td>an endpoint that comes back with cold caches and nothing open would get everything</td>
 *     </tr>
 *   <tr><td>longest Retry-After that is kept to</td><td>1 h</td>
 *     <td>a longer one is a mistake, and an operator would have to find it</td></tr>
 * </table>
 */
final class Health {
  /*
   * A pick reads one volatile condition for each endpoint, a success adds to a counter. Only where
   * an endpoint is left out or comes back is there a lock, one for each model: the bound of half a
   * cluster holds over all its endpoints, and must hold when several fail at the same instant. It
   * is held for some reads and a write, never while a line is logged.
   *
   * Attempts that end while their endpoint is left out say nothing: they began before, and each
   * would lengthen the next ejection for a fault that is known.
   */

  private static final Logger logger = LoggerFactory.getLogger(Health.class);

  static final int FAILURES_IN_A_ROW = 5;
  static final int FAILURE_RATE_PERCENT = 50;
  static final int FAILURE_RATE_OUTCOMES = 20;
  static final long FIRST_EJECTION_NANOS = TimeUnit.SECONDS.toNanos(5);
  static final long LONGEST_EJECTION_NANOS = TimeUnit.MINUTES.toNanos(5);
  static final long EJECTION_FORGOTTEN_NANOS = TimeUnit.SECONDS.toNanos(60);
  static final long LONGEST_RETRY_AFTER_NANOS = TimeUnit.HOURS.toNanos(1);

  private static final long FIRST_DOUBT_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long LONGEST_DOUBT_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Past this many doublings an ejection takes its longest time. */
  private static final int MOST_EJECTIONS = 6;

  private final String modelId;
  private final Object lock = new Object();

  Health(String modelId) {
    this.modelId = modelId;
  }

  // What attempts say.

  void succeeded(LiveEndpoint endpoint, long nowNanos) {
    Vitals vitals = endpoint.vitals();
    if (!vitals.condition.isUsable(nowNanos)) {
      return;
    }
    vitals.recent.add(Kind.SUCCESS, nowNanos);
    vitals.noTrouble();
    if (vitals.failuresInARow.get() != 0) {
      vitals.failuresInARow.set(0);
    }
    if (vitals.probation) {
      synchronized (lock) {
        if (vitals.probation && vitals.condition.isUsable(nowNanos)) {
          vitals.probation = false;
          vitals.goodSinceNanos = nowNanos;
        }
      }
    }
  }

  /**
   * @param cluster all endpoints of the model, of which no more than half are left out so
   */
  void failed(List<LiveEndpoint> cluster, LiveEndpoint endpoint, long nowNanos) {
    Vitals vitals = endpoint.vitals();
    if (!vitals.condition.isUsable(nowNanos)) {
      return;
    }
    vitals.trouble(nowNanos);
    vitals.recent.add(Kind.FAILURE, nowNanos);
    int inARow = vitals.failuresInARow.incrementAndGet();
    if (inARow >= FAILURES_IN_A_ROW || vitals.probation) {
      eject(cluster, endpoint, Cause.CONSECUTIVE_FAILURES, nowNanos);
    } else if (failsOften(vitals, nowNanos)) {
      eject(cluster, endpoint, Cause.FAILURE_RATE, nowNanos);
    }
  }

  private static boolean failsOften(Vitals vitals, long nowNanos) {
    int failures = vitals.recent.count(Kind.FAILURE, nowNanos);
    int outcomes = failures + vitals.recent.count(Kind.SUCCESS, nowNanos);
    return outcomes >= FAILURE_RATE_OUTCOMES
        && 100L * failures >= (long) FAILURE_RATE_PERCENT * outcomes;
  }

  private void eject(
      List<LiveEndpoint> cluster, LiveEndpoint endpoint, Cause cause, long nowNanos) {
    Vitals vitals = endpoint.vitals();
    long forNanos;
    synchronized (lock) {
      if (!vitals.condition.isUsable(nowNanos) || !mayLeaveOut(cluster, nowNanos)) {
        return;
      }
      int remembered = remembered(vitals, nowNanos);
      forNanos = Math.min(FIRST_EJECTION_NANOS << remembered, LONGEST_EJECTION_NANOS);
      vitals.ejections = Math.min(remembered + 1, MOST_EJECTIONS);
      vitals.probation = true;
      vitals.condition = vitals.condition.ejected(nowNanos + forNanos);
      vitals.failuresInARow.set(0);
      vitals.recent.clear();
      vitals.noTrouble();
    }
    vitals.ejectionCount(cause).increment();
    logger.warn(
        "model {}: endpoint {} is not used for {} s: {}",
        modelId,
        endpoint,
        TimeUnit.NANOSECONDS.toSeconds(forNanos),
        cause == Cause.FAILURE_RATE ? "half of the attempts fail" : "attempt after attempt fails");
  }

  private static int remembered(Vitals vitals, long nowNanos) {
    if (vitals.ejections == 0 || vitals.probation) {
      return vitals.ejections;
    }
    long forgotten = (nowNanos - vitals.goodSinceNanos) / EJECTION_FORGOTTEN_NANOS;
    return (int) Math.max(0, vitals.ejections - forgotten);
  }

  /** Whether one more may be left out: half of a cluster at most, a single endpoint never. */
  private static boolean mayLeaveOut(List<LiveEndpoint> cluster, long nowNanos) {
    int leftOut = 0;
    for (LiveEndpoint endpoint : cluster) {
      if (!endpoint.vitals().condition.isUsable(nowNanos)) {
        leftOut++;
      }
    }
    return leftOut + 1 <= cluster.size() / 2;
  }

  /**
   * Brings back the first who would come back, where more than half of the cluster are left out for
   * a time: a reload has taken others away. To be called where none may be used.
   *
   * @return whether one may be used now
   */
  boolean heedBound(List<LiveEndpoint> cluster, long nowNanos) {
    LiveEndpoint first = null;
    synchronized (lock) {
      int leftOut = 0;
      long soonest = Long.MAX_VALUE;
      for (LiveEndpoint endpoint : cluster) {
        Condition condition = endpoint.vitals().condition;
        long left = condition.timeLeftNanos(nowNanos);
        if (left > 0) {
          leftOut++;
          if (left < soonest && !condition.out() && !condition.unwell()) {
            soonest = left;
            first = endpoint;
          }
        }
      }
      if (first == null || leftOut <= cluster.size() / 2) {
        return false;
      }
      first.vitals().condition = first.vitals().condition.restored();
    }
    logger.info(
        "model {}: endpoint {} is used again: more than half would be left out", modelId, first);
    return true;
  }

  /**
   * @param retryAfterNanos how long the upstream asked not to be asked; 0 where it did not say
   */
  void refused(
      List<LiveEndpoint> cluster, LiveEndpoint endpoint, long retryAfterNanos, long nowNanos) {
    Vitals vitals = endpoint.vitals();
    if (vitals.condition.isUsable(nowNanos)) {
      vitals.trouble(nowNanos);
    }
    if (retryAfterNanos <= 0) {
      return;
    }
    long forNanos = Math.min(retryAfterNanos, LONGEST_RETRY_AFTER_NANOS);
    synchronized (lock) {
      Condition condition = vitals.condition;
      if (condition.isUsable(nowNanos) && !mayLeaveOut(cluster, nowNanos)) {
        return;
      }
      vitals.condition = condition.setAside(nowNanos + forNanos);
      if (condition.isSetAside(nowNanos)) {
        return; // the next of those that were under way says the same
      }
    }
    vitals.ejectionCount(Cause.RETRY_AFTER).increment();
    logger.warn(
        "model {}: endpoint {} is not used for {} s: its upstream asked for that",
        modelId,
        endpoint,
        TimeUnit.NANOSECONDS.toSeconds(forNanos));
  }

  /** For how long an endpoint is doubtful after so much trouble in a row. */
  static long doubtNanos(int troublesInARow) {
    return Math.min(FIRST_DOUBT_NANOS << Math.min(troublesInARow - 1, 10), LONGEST_DOUBT_NANOS);
  }

  // What probes say.

  void probedWell(LiveEndpoint endpoint, Probe probe, long nowNanos) {
    Vitals vitals = endpoint.vitals();
    vitals.probeCount(true).increment();
    boolean back;
    synchronized (lock) {
      int inARow = Math.max(0, vitals.probesInARow) + 1;
      vitals.probesInARow = inARow;
      vitals.probedNanos = nowNanos;
      back = inARow >= probe.healthyAfter() && foundWell(vitals);
    }
    if (back) {
      logWell(endpoint);
    }
  }

  /**
   * @param fault what went wrong, in a few words
   */
  void probedUnwell(LiveEndpoint endpoint, Probe probe, String fault, long nowNanos) {
    Vitals vitals = endpoint.vitals();
    vitals.probeCount(false).increment();
    int inARow;
    synchronized (lock) {
      inARow = 1 - Math.min(0, vitals.probesInARow);
      vitals.probesInARow = -inARow;
      vitals.probedNanos = nowNanos;
      if (inARow < probe.unhealthyAfter() || vitals.condition.unwell()) {
        return;
      }
      vitals.condition = vitals.condition.foundUnwell();
    }
    vitals.ejectionCount(Cause.PROBE).increment();
    logger.warn(
        "model {}: endpoint {} is not used until probes of it go well: {} in a row did not, the"
            + " last: {}",
        modelId,
        endpoint,
        inARow,
        fault);
  }

  /** It is probed no longer, so what probes said does not hold. */
  void notProbed(LiveEndpoint endpoint) {
    Vitals vitals = endpoint.vitals();
    boolean back;
    synchronized (lock) {
      vitals.probesInARow = 0;
      back = foundWell(vitals);
    }
    if (back) {
      logWell(endpoint);
    }
  }

  /** Under the lock; whether that is news. */
  private static boolean foundWell(Vitals vitals) {
    boolean unwell = vitals.condition.unwell();
    if (unwell) {
      vitals.condition = vitals.condition.foundWell();
    }
    return unwell;
  }

  private void logWell(LiveEndpoint endpoint) {
    logger.info("model {}: endpoint {} is well again", modelId, endpoint);
  }

  // What an operator says.

  void takeOut(LiveEndpoint endpoint) {
    Vitals vitals = endpoint.vitals();
    synchronized (lock) {
      if (vitals.condition.out()) {
        return;
      }
      vitals.condition = vitals.condition.takenOut();
    }
    vitals.ejectionCount(Cause.OPERATOR).increment();
    logger.warn(
        "model {}: endpoint {} is not used until it is restored: an operator said so",
        modelId,
        endpoint);
  }

  void restore(LiveEndpoint endpoint) {
    Vitals vitals = endpoint.vitals();
    Condition before;
    Condition after;
    synchronized (lock) {
      before = vitals.condition;
      after = before.restored();
      vitals.condition = after;
      vitals.probation = false;
      vitals.ejections = 0;
      vitals.failuresInARow.set(0);
      vitals.recent.clear();
      vitals.noTrouble();
      vitals.probesInARow = 0;
    }
    if (!before.equals(after)) {
      logger.info("model {}: endpoint {} is restored: an operator said so", modelId, endpoint);
    }
  }

  // What a pick asks.

  /** The endpoint's condition, for a pick: what time has changed is noted. */
  Condition settle(LiveEndpoint endpoint, long nowNanos) {
    Vitals vitals = endpoint.vitals();
    Condition before = vitals.condition;
    if (before.isPlain() || before.settled(nowNanos).equals(before)) {
      return before;
    }
    Condition after;
    synchronized (lock) {
      before = vitals.condition;
      after = before.settled(nowNanos);
      vitals.condition = after;
    }
    if (!before.equals(after) && before.isTimed()) {
      logger.info("model {}: endpoint {} is used again, slowly at first", modelId, endpoint);
    }
    return after;
  }
}
