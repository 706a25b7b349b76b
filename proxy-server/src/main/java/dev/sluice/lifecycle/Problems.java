package dev.sluice.lifecycle;

import dev.sluice.access.Plan;
import dev.sluice.admin.Operations.Problem;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.error.Reason;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.pipeline.Edge;
import dev.sluice.pipeline.Maintenance;
import dev.sluice.status.Availability;
import dev.sluice.telemetry.RecentFailures;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What is not as it should be at an edge, found by looking at it now. Safe for all threads. */
final class Problems {
  /** What is near its bound: this much of it is in use. */
  private static final double NEAR = 0.8;

  /** Failures that are told as what they come from. */
  private static final Set<Reason> TOLD_OTHERWISE =
      EnumSet.of(Reason.STARTING, Reason.DRAINING, Reason.MAINTENANCE, Reason.SHUTDOWN);

  private final Edge edge;
  private final RecentFailures failures;
  private final ConfigWatcher files;

  Problems(Edge edge, RecentFailures failures, ConfigWatcher files) {
    this.edge = edge;
    this.failures = failures;
    this.files = files;
  }

  /** Finds what there is; alarms first, else in the order in which an operator looks. */
  List<Problem> find() {
    List<Problem> found = new ArrayList<>();
    phase(found);
    long nowNanos = System.nanoTime();
    for (Cluster cluster : edge.catalog().clusters()) {
      endpoints(found, cluster, nowNanos);
    }
    files(found);
    memory(found);
    plans(found);
    bounds(found);
    failures(found);
    return found.stream()
        .sorted((one, other) -> Boolean.compare(other.isAlarm(), one.isAlarm()))
        .toList();
  }

  private static void alarm(List<Problem> found, String text) {
    found.add(new Problem(true, text));
  }

  private static void caution(List<Problem> found, String text) {
    found.add(new Problem(false, text));
  }

  private void phase(List<Problem> found) {
    if (edge.isDraining()) {
      alarm(
          found,
          "Sluice drains: new requests are refused. "
              + count(edge.openExchanges(), "exchange")
              + " left, ended in "
              + EdgeOperations.seconds(edge.drainLeftNanos())
              + " s.");
    } else if (!edge.isReady()) {
      caution(found, "Sluice starts: it takes no requests yet.");
    }
    edge.maintenance()
        .remainingSeconds()
        .forEach(
            (model, seconds) ->
                caution(
                    found,
                    (model.equals(Maintenance.ALL) ? "All models are" : "Model " + model + " is")
                        + " in maintenance for "
                        + seconds
                        + " s more."));
  }

  private static void endpoints(List<Problem> found, Cluster cluster, long nowNanos) {
    String model = "Model " + cluster.model().id() + ": ";
    List<LiveEndpoint> all = cluster.endpoints();
    if (EdgeStatus.ofEndpoints(cluster, nowNanos) == Availability.UNAVAILABLE) {
      alarm(
          found,
          model
              + (all.size() == 1
                  ? "its only endpoint does not answer."
                  : "none of its " + all.size() + " endpoints answers."));
    }
    for (LiveEndpoint endpoint : all) {
      String why = why(endpoint, nowNanos);
      if (!why.isEmpty()) {
        caution(found, model + "endpoint " + endpoint.id() + " " + why + ".");
      }
    }
  }

  private static String why(LiveEndpoint endpoint, long nowNanos) {
    long seconds = EdgeOperations.seconds(endpoint.timeLeftNanos(nowNanos));
    return switch (endpoint.state(nowNanos)) {
      case HEALTHY ->
          endpoint.isFailing(nowNanos) ? "is used, though attempt after attempt fails" : "";
      case EJECTED -> "is ejected for " + seconds + " s more, because attempts failed";
      case SET_ASIDE ->
          "is set aside for " + seconds + " s more, because its upstream asked for it";
      case UNWELL -> "is not used until probes of it go well";
      case OUT -> "is not used until an operator restores it";
    };
  }

  private void files(List<Problem> found) {
    int faults = files.refusedFaults();
    if (faults > 0) {
      alarm(
          found,
          "The new version of the configuration was refused: "
              + count(faults, "fault")
              + ". The one before stays; the next start would fail.");
    }
    if (files.areKeysRefused()) {
      alarm(
          found,
          "The new version of the keys was refused: what it revokes is not revoked. The keys known"
              + " before stay.");
    }
  }

  private void memory(List<Problem> found) {
    MemoryBudget budget = edge.budget();
    String held =
        budget.heldBytes() * 100 / budget.limitBytes() + " % of the memory budget is held";
    if (budget.isExhausted()) {
      alarm(found, held + ": new requests are refused.");
    } else if (isNear(budget.heldBytes(), budget.limitBytes())) {
      caution(found, held + ".");
    }
  }

  private void plans(List<Problem> found) {
    for (Plan plan : edge.plans()) {
      if (edge.slots().inUse(plan.name()) >= plan.streams()) {
        caution(
            found,
            "Plan "
                + plan.name()
                + ": "
                + (plan.streams() == 1
                    ? "its only stream slot is"
                    : "all " + plan.streams() + " stream slots are")
                + " in use. Further streams are refused.");
      }
    }
  }

  private void bounds(List<Problem> found) {
    near(found, "connections", edge.downstreamConnections(), edge.limits().maxConnections());
    near(found, "exchanges", edge.openExchanges(), edge.limits().maxExchanges());
  }

  private static void near(List<Problem> found, String what, int used, int most) {
    if (used >= most) {
      alarm(found, "All " + most + " " + what + " that there may be are open: more are refused.");
    } else if (isNear(used, most)) {
      caution(found, used + " of " + most + " " + what + " are open.");
    }
  }

  private static boolean isNear(long used, long most) {
    return used >= most * NEAR;
  }

  private void failures(List<Problem> found) {
    Map<Reason, Integer> counts = failures.counts();
    counts.keySet().removeAll(TOLD_OTHERWISE);
    if (counts.isEmpty()) {
      return;
    }
    int all = counts.values().stream().mapToInt(Integer::intValue).sum();
    String reasons =
        counts.entrySet().stream()
            .sorted(Map.Entry.<Reason, Integer>comparingByValue().reversed())
            .map(entry -> entry.getKey().label() + " " + entry.getValue())
            .collect(Collectors.joining(", "));
    String text =
        count(all, "exchange") + " failed in the last " + RecentFailures.MINUTES + " minutes: ";
    found.add(new Problem(counts.containsKey(Reason.INTERNAL), text + reasons + "."));
  }

  private static String count(int number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
