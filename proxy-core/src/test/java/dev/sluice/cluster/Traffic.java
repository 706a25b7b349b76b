package dev.sluice.cluster;

import dev.sluice.cluster.Cluster.Outcome;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Streams that come and live, in simulated time. */
final class Traffic {
  private record Stream(LiveEndpoint endpoint, long endNanos) {}

  private final ClusterFixture fixture;
  private final PriorityQueue<Stream> running =
      new PriorityQueue<>((a, b) -> Long.signum(a.endNanos - b.endNanos));

  Traffic(ClusterFixture fixture) {
    this.fixture = fixture;
  }

  /**
   * Lets streams come at even distances.
   *
   * @param policy picks for each
   * @param lifeSeconds the mean of how long one lives, which is distributed exponentially
   */
  void run(
      double seconds,
      double streamsPerSecond,
      Function<Cluster, LiveEndpoint> policy,
      ToDoubleFunction<LiveEndpoint> lifeSeconds) {
    int streams = (int) (seconds * streamsPerSecond);
    for (int i = 0; i < streams; i++) {
      fixture.nowNanos += (long) (1e9 / streamsPerSecond);
      while (!running.isEmpty() && running.element().endNanos - fixture.nowNanos <= 0) {
        fixture.cluster.ended(running.remove().endpoint, Outcome.CANCELLED, 0, fixture.nowNanos);
      }
      LiveEndpoint picked = policy.apply(fixture.cluster);
      double life = -Math.log(1 - fixture.random.nextDouble()) * lifeSeconds.applyAsDouble(picked);
      running.add(new Stream(picked, fixture.nowNanos + (long) (life * 1e9)));
    }
  }

  /** Picks by the cluster's own policy. */
  LiveEndpoint byPolicy(Cluster cluster) {
    return Objects.requireNonNull(cluster.pick(Cluster.NO_PREFIX, List.of(), fixture.nowNanos));
  }

  /** Each in its turn. */
  Function<Cluster, LiveEndpoint> roundRobin() {
    int[] turn = {0};
    return cluster -> {
      LiveEndpoint next = cluster.endpoints().get(turn[0]++ % cluster.endpoints().size());
      next.vitals().begun();
      return next;
    };
  }

  int open() {
    return running.size();
  }

  void endAll() {
    running.forEach(
        stream -> fixture.cluster.ended(stream.endpoint, Outcome.CANCELLED, 0, fixture.nowNanos));
    running.clear();
  }
}
