package dev.sluice.cluster;

import dev.sluice.cluster.LiveEndpoint.State;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints that serve one model: picks one for each attempt, and learns from how the attempts
 * end which of them to leave out. Safe for all threads.
 *
 * <p>All times are as {@link System#nanoTime()}; they may come from a clock that is a tick late.
 */
public final class Cluster {
  /** The prefix of a request that has none. */
  public static final long NO_PREFIX = 0;

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
  private final AtomicInteger retries;

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
    this.model = model;
    this.endpoints = live(model.endpoints(), before);
    this.retries = before == null ? new AtomicInteger() : before.retries;
  }

  private static List<LiveEndpoint> live(List<Endpoint> endpoints, @Nullable Cluster before) {
    Map<Endpoint, Vitals> known = new HashMap<>();
    if (before != null) {
      for (LiveEndpoint endpoint : before.endpoints) {
        known.putIfAbsent(endpoint.endpoint().withWeight(1), endpoint.vitals());
      }
    }
    List<LiveEndpoint> live = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    for (Endpoint endpoint : endpoints) {
      Vitals vitals = known.remove(endpoint.withWeight(1));
      live.add(
          new LiveEndpoint(endpoint, id(endpoint, ids), vitals == null ? new Vitals() : vitals));
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
    List<LiveEndpoint> usable = new ArrayList<>();
    for (LiveEndpoint endpoint : endpoints) {
      if (endpoint.state(nowNanos) == State.HEALTHY && !except.contains(endpoint)) {
        usable.add(endpoint);
      }
    }
    if (usable.isEmpty()) {
      return null;
    }
    LiveEndpoint picked = usable.get(ThreadLocalRandom.current().nextInt(usable.size()));
    LiveEndpoint other = usable.get(ThreadLocalRandom.current().nextInt(usable.size()));
    if (other.openExchanges() < picked.openExchanges()) {
      picked = other;
    }
    picked.vitals().begun();
    return picked;
  }

  /**
   * The answer of an attempt has begun: its first event came. What is known of the endpoint need
   * not wait for the end of a stream that lives for minutes. Once for an attempt at most; it then
   * ends with {@link Outcome#CANCELLED}, or with {@link Outcome#FAILED} where it broke off.
   */
  public void answering(LiveEndpoint endpoint, long nowNanos) {}

  /**
   * Ends an attempt that {@link #pick} began. Exactly once for each.
   *
   * @param retryAfterNanos how long the upstream asked not to be asked, where it refused; 0 where
   *     it did not say
   */
  public void ended(LiveEndpoint endpoint, Outcome outcome, long retryAfterNanos, long nowNanos) {
    endpoint.vitals().ended();
  }

  /** Takes one of the few retries that may be under way at once; false where all are taken. */
  public boolean tryBeginRetry() {
    retries.incrementAndGet();
    return true;
  }

  /** Gives back what {@link #tryBeginRetry} took. */
  public void endRetry() {
    retries.decrementAndGet();
  }

  /**
   * How long until an endpoint may be used.
   *
   * @return nanoseconds; 0 where one may be used now, -1 where nobody knows, because all are out by
   *     an operator
   */
  public long untilNextTryNanos(long nowNanos) {
    for (LiveEndpoint endpoint : endpoints) {
      if (endpoint.state(nowNanos) == State.HEALTHY) {
        return 0;
      }
    }
    return -1;
  }
}
