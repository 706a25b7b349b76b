package dev.sluice.cluster;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.sluice.cluster.LiveEndpoint.State;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** What two threads may make of a cluster of two, for jcstress. */
final class ClusterStress {
  private static final Model TWO = ClusterFixture.model(Balance.LEAST_EXCHANGES, null, 1, 1);
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private ClusterStress() {}

  /** A cluster whose endpoints are each one failure from being ejected. */
  private static Cluster failing() {
    Cluster cluster = new Cluster(TWO);
    for (LiveEndpoint endpoint : cluster.endpoints()) {
      for (int i = 1; i < Health.FAILURES_IN_A_ROW; i++) {
        end(cluster, endpoint, Cluster.Outcome.FAILED, 0);
      }
    }
    return cluster;
  }

  private static void end(
      Cluster cluster, LiveEndpoint endpoint, Cluster.Outcome outcome, long retryAfterNanos) {
    endpoint.vitals().begun();
    cluster.ended(endpoint, outcome, retryAfterNanos, 0);
  }

  private static int leftOut(Cluster cluster, int endpoint) {
    return cluster.endpoints().get(endpoint).state(0) == State.HEALTHY ? 0 : 1;
  }

  /** Both fail for the fifth time at once. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the first is ejected")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the second is ejected")
  @Outcome(expect = FORBIDDEN, desc = "more than half, or none")
  @org.openjdk.jcstress.annotations.State
  public static class BothFailAtOnce {
    private final Cluster cluster = failing();

    @Actor
    public void first() {
      end(cluster, cluster.endpoints().get(0), Cluster.Outcome.FAILED, 0);
    }

    @Actor
    public void second() {
      end(cluster, cluster.endpoints().get(1), Cluster.Outcome.FAILED, 0);
    }

    @Arbiter
    public void count(II_Result r) {
      r.r1 = leftOut(cluster, 0);
      r.r2 = leftOut(cluster, 1);
    }
  }

  /** One fails for the fifth time, the other asks for time. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the one that fails is ejected")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the one that asked is set aside")
  @Outcome(expect = FORBIDDEN, desc = "more than half, or none")
  @org.openjdk.jcstress.annotations.State
  public static class OneFailsAndOneAsksForTime {
    private final Cluster cluster = failing();

    @Actor
    public void first() {
      end(cluster, cluster.endpoints().get(0), Cluster.Outcome.FAILED, 0);
    }

    @Actor
    public void second() {
      end(cluster, cluster.endpoints().get(1), Cluster.Outcome.REFUSED, MINUTE);
    }

    @Arbiter
    public void count(II_Result r) {
      r.r1 = leftOut(cluster, 0);
      r.r2 = leftOut(cluster, 1);
    }
  }

  /** Two retry where one more may. */
  @JCStressTest
  @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "the first may")
  @Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "the second may")
  @Outcome(expect = FORBIDDEN, desc = "both, none, or miscounted")
  @org.openjdk.jcstress.annotations.State
  public static class TwoTakeTheLastRetry {
    private final Cluster cluster = new Cluster(TWO);

    public TwoTakeTheLastRetry() {
      for (int i = 1; i < RetryBudget.ALWAYS; i++) {
        cluster.tryBeginRetry();
      }
    }

    @Actor
    public void first(III_Result r) {
      r.r1 = cluster.tryBeginRetry() ? 1 : 0;
    }

    @Actor
    public void second(III_Result r) {
      r.r2 = cluster.tryBeginRetry() ? 1 : 0;
    }

    @Arbiter
    public void count(III_Result r) {
      r.r3 = cluster.tryBeginRetry() ? 1 : 0;
    }
  }

  /** Two attempts begin and end. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "nothing is left open")
  @Outcome(expect = FORBIDDEN, desc = "miscounted")
  @org.openjdk.jcstress.annotations.State
  public static class TwoAttempts {
    private final Cluster cluster = new Cluster(TWO);

    @Actor
    public void first() {
      attempt();
    }

    @Actor
    public void second() {
      attempt();
    }

    private void attempt() {
      LiveEndpoint picked = Objects.requireNonNull(cluster.pick(Cluster.NO_PREFIX, List.of(), 0));
      cluster.ended(picked, Cluster.Outcome.ANSWERED, 0, 0);
    }

    @Arbiter
    public void count(II_Result r) {
      r.r1 = cluster.endpoints().get(0).openExchanges();
      r.r2 = cluster.endpoints().get(1).openExchanges();
    }
  }
}
