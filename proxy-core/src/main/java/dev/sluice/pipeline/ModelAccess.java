package dev.sluice.pipeline;

import dev.sluice.cluster.Cluster;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import org.jspecify.annotations.Nullable;

/**
 * The model is not listed: 404. It is, but not in the caller's plan: 403. It is in maintenance:
 * 503, which only those are told who may use it.
 */
final class ModelAccess extends Rule {
  static final Failure UNKNOWN =
      Failure.of(
          Reason.MODEL_UNKNOWN, "There is no model with this id. GET /v1/models lists the ids.");

  private static final Failure NOT_IN_PLAN =
      Failure.of(
          Reason.MODEL_NOT_IN_PLAN,
          "This model is not in the plan of the API key's subscription. Check the model id and"
              + " the plan.");

  private final Maintenance maintenance;

  ModelAccess(Maintenance maintenance) {
    this.maintenance = maintenance;
  }

  @Override
  @Nullable Failure check(Exchange exchange) {
    String id = exchange.facts().model();
    Cluster cluster = exchange.snapshot().catalog().find(id);
    if (cluster == null) {
      return UNKNOWN;
    }
    exchange.cluster(cluster);
    return exchange.plan().includes(id) ? maintenance.of(id) : NOT_IN_PLAN;
  }
}
