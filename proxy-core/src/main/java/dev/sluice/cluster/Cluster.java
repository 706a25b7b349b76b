package dev.sluice.cluster;

import dev.sluice.message.PrefixHash;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints that serve one model: picks one for each attempt, and learns from how the attempts
 * end which of them to leave out. Safe for all threads.
 *
 * <p>All times are as {@link System#nanoTime()}; they may come from a clock that is a tick late.
 */
public final class Cluster {
  /** The prefix of a request that has none. */
  public static final long NO_PREFIX = PrefixHash.NONE;

  /** What the end of an attempt says of its endpoint. */
  public enum Outcome {
    /** It answered: with 2xx, or with an error that is the caller's fault. */
    ANSWERED,
    /** It could not be reached, broke off, was too late, or answered with an error of its own. */
    FAILED,
    /** It answered 429 or 503: overloaded, not broken. */
    REFUSED,
    /** Nothing, or nothing more: the caller left, or {@link #answering} has said it. */
    CANCELLED
  }

  private final Model model;
  private final List<LiveEndpoint> endpoints;
  private final LiveEndpoint[] all;
  private final double[] weights;
  private final Balancer balancer;
  private final Health health;
  private final RetryBudget retries;

  /** The cluster of a model's endpoints, of which nothing is known yet. */
  public Cluster(Model model) {
    this(model, null);
  }

  /**
   * The cluster of a model's endpoints.
   *
   * @param before the same model's cluster in the configuration before; null where there was none
   */
  Cluster(Model model, @Nullable Cluster before) {
    this(model, before, () -> ThreadLocalRandom.current().nextDouble());
  }

  Cluster(Model model, @Nullable Cluster before, DoubleSupplier random) {
    this.model = model;
    this.health = before == null ? new Health(model.id()) : before.health;
    this.retries = before == null ? new RetryBudget() : before.retries;
    this.endpoints = live(model.endpoints(), before);
    this.all = endpoints.toArray(LiveEndpoint[]::new);
    this.weights = endpoints.stream().mapToDouble(live -> live.endpoint().weight()).toArray();
    Balancer leastExchanges = new LeastExchanges(random);
    this.balancer =
        switch (model.balance()) {
          case LEAST_EXCHANGES -> leastExchanges;
          case PREFIX_AFFINITY -> new PrefixAffinity(leastExchanges);
        };
  }

  private List<LiveEndpoint> live(List<Endpoint> configured, @Nullable Cluster before) {
    Map<Endpoint, Vitals> known = new HashMap<>();
    if (before != null) {
      for (LiveEndpoint endpoint : before.endpoints) {
        known.putIfAbsent(endpoint.endpoint().withWeight(1), endpoint.vitals());
      }
    }
    List<LiveEndpoint> live = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    for (Endpoint endpoint : configured) {
      // Removed: a second endpoint that is the same has a life of its own.
      Vitals vitals = known.remove(endpoint.withWeight(1));
      live.add(
          new LiveEndpoint(
              endpoint, id(endpoint, ids), vitals == null ? new Vitals() : vitals, health));
    }
    return List.copyOf(live);
  }

  private static String id(Endpoint endpoint, Set<String> taken) {
    String place = endpoint.authority() + endpoint.basePath();
    String id = place;
    for (int i = 2; !taken.add(id); i++) {
      id = place + "~" + i;
    }
    return id;
  }

  /** The model that is served. */
  public Model model() {
    return model;
  }

  /** Its endpoints, in the order of the configuration. */
  public List<LiveEndpoint> endpoints() {
    return endpoints;
  }

  /**
   * Picks the endpoint of an attempt, and counts the attempt as open there until {@link #ended}.
   *
   * @param prefixHash of the request's first messages, where the model is balanced by them; {@link
   *     #NO_PREFIX} for none
   * @param except what the exchange has tried already; never picked
   * @return null where there is none that may be used now
   */
  public @Nullable LiveEndpoint pick(
      long prefixHash, Collection<LiveEndpoint> except, long nowNanos) {
    LiveEndpoint picked =
        except.isEmpty() && allAlike()
            ? pickOf(all, weights, prefixHash)
            : pickOfUsable(prefixHash, except, nowNanos);
    if (picked == null && except.isEmpty() && health.heedBound(endpoints, nowNanos)) {
      picked = pickOfUsable(prefixHash, except, nowNanos);
    }
    if (picked != null) {
      picked.vitals().begun();
    }
    return picked;
  }

  /** Whether nothing is known against any endpoint: the common case, which allocates nothing. */
  private boolean allAlike() {
    for (LiveEndpoint endpoint : all) {
      if (!endpoint.vitals().condition.isPlain() || endpoint.vitals().inTrouble()) {
        return false;
      }
    }
    return true;
  }

  private @Nullable LiveEndpoint pickOfUsable(
      long prefixHash, Collection<LiveEndpoint> except, long nowNanos) {
    LiveEndpoint[] candidates = new LiveEndpoint[all.length];
    double[] counting = new double[all.length];
    int usable = 0;
    int trusted = 0; // they stand before the doubtful ones
    for (int i = 0; i < all.length; i++) {
      if (except.contains(all[i])) {
        continue;
      }
      Condition condition = health.settle(all[i], nowNanos);
      if (condition.isUsable(nowNanos)) {
        candidates[usable] = all[i];
        counting[usable] = weights[i] * condition.share(nowNanos);
        if (!all[i].vitals().isDoubtful(nowNanos)) {
          swap(candidates, counting, usable, trusted++);
        }
        usable++;
      }
    }
    int count = trusted > 0 ? trusted : usable;
    return count == 0
        ? null
        : pickOf(Arrays.copyOf(candidates, count), Arrays.copyOf(counting, count), prefixHash);
  }

  private static void swap(LiveEndpoint[] candidates, double[] counting, int i, int j) {
    LiveEndpoint candidate = candidates[i];
    candidates[i] = candidates[j];
    candidates[j] = candidate;
    double counts = counting[i];
    counting[i] = counting[j];
    counting[j] = counts;
  }

  private LiveEndpoint pickOf(LiveEndpoint[] candidates, double[] counting, long prefixHash) {
    return candidates.length == 1 ? candidates[0] : balancer.pick(candidates, counting, prefixHash);
  }

  /**
   * The answer of an attempt has begun: its first event came. What is known of the endpoint need
   * not wait for the end of a stream that lives for minutes. Once for an attempt at most; it then
   * ends with {@link Outcome#CANCELLED}, or with {@link Outcome#FAILED} where it broke off.
   */
  public void answering(LiveEndpoint endpoint, long nowNanos) {
    health.succeeded(endpoint, nowNanos);
  }

  /**
   * Ends an attempt that {@link #pick} began. Exactly once for each.
   *
   * @param retryAfterNanos how long the upstream asked not to be asked, where it refused; 0 where
   *     it did not say
   */
  public void ended(LiveEndpoint endpoint, Outcome outcome, long retryAfterNanos, long nowNanos) {
    endpoint.vitals().ended();
    switch (outcome) {
      case ANSWERED -> health.succeeded(endpoint, nowNanos);
      case FAILED -> health.failed(endpoints, endpoint, nowNanos);
      case REFUSED -> health.refused(endpoints, endpoint, retryAfterNanos, nowNanos);
      case CANCELLED -> {}
    }
  }

  /**
   * A probe of an endpoint ended. Event loop of the probes only.
   *
   * @param fault what went wrong, in a few words; null where it went well
   * @throws IllegalStateException when the model has no probe
   */
  public void probed(LiveEndpoint endpoint, @Nullable String fault, long nowNanos) {
    Probe probe = model.probe();
    if (probe == null) {
      throw new IllegalStateException("probe: none (expected: one of model " + model.id() + ")");
    }
    if (fault == null) {
      health.probedWell(endpoint, probe, nowNanos);
    } else {
      health.probedUnwell(endpoint, probe, fault, nowNanos);
    }
  }

  /** An endpoint is not probed: what probes said of it before holds no longer. */
  public void notProbed(LiveEndpoint endpoint) {
    health.notProbed(endpoint);
  }

  /**
   * Takes one of the few retries that may be under way at once: 20 % of the attempts that are, and
   * always three.
   *
   * @return false where all are taken
   */
  public boolean tryBeginRetry() {
    int open = 0;
    for (LiveEndpoint endpoint : all) {
      open += endpoint.openExchanges();
    }
    return retries.tryBegin(open);
  }

  /** Gives back what {@link #tryBeginRetry} took. */
  public void endRetry() {
    retries.end();
  }

  /**
   * How long until an endpoint may be used, as far as is known now.
   *
   * @return nanoseconds; 0 where one may be used now, -1 where nobody knows, because all are out by
   *     an operator
   */
  public long untilNextTryNanos(long nowNanos) {
    long soonest = -1;
    for (LiveEndpoint endpoint : all) {
      Condition condition = endpoint.vitals().condition;
      if (condition.isUsable(nowNanos)) {
        return 0;
      }
      if (!condition.out()) {
        long wait = Math.max(1, condition.timeLeftNanos(nowNanos));
        if (condition.unwell()) {
          wait = Math.max(wait, untilWellNanos(endpoint.vitals(), nowNanos));
        }
        soonest = soonest < 0 ? wait : Math.min(soonest, wait);
      }
    }
    return soonest;
  }

  /** How long until enough probes can have gone well. */
  private long untilWellNanos(Vitals vitals, long nowNanos) {
    Probe probe = model.probe();
    if (probe == null) {
      return 0;
    }
    int missing = probe.healthyAfter() - Math.max(0, vitals.probesInARow);
    return vitals.probedNanos + missing * probe.interval().toNanos() - nowNanos;
  }
}
