package dev.sluice.cluster;

import dev.sluice.cluster.Cluster.Outcome;
import dev.sluice.cluster.LiveEndpoint.State;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A cluster of endpoints a, b, c, … with a clock that stands still and chance that repeats. */
final class ClusterFixture {
  /** A clock may begin anywhere, and be about to overflow. */
  long nowNanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(7);

  final Random random = new Random(20_240_607);
  volatile Cluster cluster;

  ClusterFixture(int endpoints) {
    this(model(Balance.LEAST_EXCHANGES, null, weights(endpoints)));
  }

  ClusterFixture(Model model) {
    cluster = new Cluster(model, null, random::nextDouble);
  }

  private static int[] weights(int endpoints) {
    int[] weights = new int[endpoints];
    Arrays.fill(weights, 1);
    return weights;
  }

  static Model model(Balance balance, @Nullable Probe probe, int... weights) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (int i = 0; i < weights.length; i++) {
      endpoints.add(endpoint((char) ('a' + i)).withWeight(weights[i]));
    }
    return model(balance, probe, endpoints);
  }

  static Model model(Balance balance, @Nullable Probe probe, List<Endpoint> endpoints) {
    return new Model(
        "small",
        null,
        endpoints,
        Timeouts.DEFAULT,
        balance,
        Model.DEFAULT_ATTEMPTS,
        probe,
        "acme",
        Instant.EPOCH);
  }

  static Endpoint endpoint(char name) {
    return new Endpoint(String.valueOf(name), 80, false, "", null);
  }

  LiveEndpoint endpoint(int index) {
    return cluster.endpoints().get(index);
  }

  void pass(long seconds) {
    nowNanos += TimeUnit.SECONDS.toNanos(seconds);
  }

  /** Replaces the configuration; what is known of endpoints stays. */
  void reload(Model model) {
    cluster = new Cluster(model, cluster, random::nextDouble);
  }

  @Nullable LiveEndpoint pickOrNone(LiveEndpoint... except) {
    return cluster.pick(Cluster.NO_PREFIX, List.of(except), nowNanos);
  }

  LiveEndpoint pick(Collection<LiveEndpoint> except) {
    return Objects.requireNonNull(cluster.pick(Cluster.NO_PREFIX, except, nowNanos));
  }

  LiveEndpoint pick() {
    return pick(List.of());
  }

  /** An attempt at this endpoint, whatever is known against it. */
  void attempt(LiveEndpoint endpoint, Outcome outcome) {
    endpoint.vitals().begun();
    cluster.ended(endpoint, outcome, 0, nowNanos);
  }

  void fail(LiveEndpoint endpoint, int times) {
    for (int i = 0; i < times; i++) {
      attempt(endpoint, Outcome.FAILED);
    }
  }

  void succeed(LiveEndpoint endpoint, int times) {
    for (int i = 0; i < times; i++) {
      attempt(endpoint, Outcome.ANSWERED);
    }
  }

  void refuse(LiveEndpoint endpoint, long retryAfterSeconds) {
    endpoint.vitals().begun();
    cluster.ended(endpoint, Outcome.REFUSED, TimeUnit.SECONDS.toNanos(retryAfterSeconds), nowNanos);
  }

  /** Makes it be ejected, and comes to the end of that. */
  void ejectAndWait(LiveEndpoint endpoint, long seconds) {
    fail(endpoint, endpoint.vitals().probation ? 1 : Health.FAILURES_IN_A_ROW);
    if (state(endpoint) != State.EJECTED) {
      throw new AssertionError(endpoint + ": " + state(endpoint) + " (expected: EJECTED)");
    }
    pass(seconds);
    if (state(endpoint) != State.HEALTHY) {
      throw new AssertionError(endpoint + ": " + state(endpoint) + " (expected: HEALTHY)");
    }
  }

  State state(LiveEndpoint endpoint) {
    return endpoint.state(nowNanos);
  }

  List<State> states() {
    return cluster.endpoints().stream().map(this::state).toList();
  }

  /** How many of these picks, each ended at once, came to each endpoint. */
  int[] spread(int picks) {
    int[] spread = new int[cluster.endpoints().size()];
    for (int i = 0; i < picks; i++) {
      LiveEndpoint picked = pick();
      spread[cluster.endpoints().indexOf(picked)]++;
      cluster.ended(picked, Outcome.CANCELLED, 0, nowNanos);
    }
    return spread;
  }
}
