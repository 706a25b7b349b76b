package dev.sluice.exchange;

import dev.sluice.access.Plan;
import dev.sluice.cluster.Catalog;
import dev.sluice.http.HttpLimits;
import java.time.Duration;
import java.util.Map;

/**
 * What is configured, as one exchange sees it from its begin to its end. A reload of the
 * configuration puts another in its place and changes none. Immutable.
 *
 * @param limits bounds on downstream connections and requests
 * @param plans the plans by name
 * @param catalog the models with their clusters
 * @param routes the paths that are served
 * @param ssePing how long a stream may be silent before its caller is sent a comment line; zero for
 *     never
 * @param traceSample the share of traces begun here that are sampled, 0 to 1
 */
public record Snapshot(
    HttpLimits limits,
    Map<String, Plan> plans,
    Catalog catalog,
    RouteTable routes,
    Duration ssePing,
    double traceSample) {

  /** Copies the map. */
  public Snapshot {
    plans = Map.copyOf(plans);
  }

  /** The same with other plans. */
  public Snapshot withPlans(Map<String, Plan> others) {
    return new Snapshot(limits, others, catalog, routes, ssePing, traceSample);
  }
}
