package dev.sluice.pipeline;

import dev.sluice.access.Plan;
import dev.sluice.cluster.Model;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import java.time.Duration;
import java.util.List;

/**
 * What an {@link Edge} serves, and within which bounds.
 *
 * @param limits bounds on downstream connections and requests
 * @param plans all plans that a subscription may hold; names are unique
 * @param models all models, in the order in which they are listed; ids are unique
 * @param operations all operations that are forwarded; paths and names are unique
 * @param ssePing how long a stream may be silent before its caller is sent a comment line; zero for
 *     never
 * @param traceSample the share of traces begun here that are sampled, 0 to 1
 * @param memoryBudgetBytes how much memory held bodies and relay buffers may take together before
 *     new requests are refused
 */
public record EdgeConfig(
    HttpLimits limits,
    List<Plan> plans,
    List<Model> models,
    List<Operation> operations,
    Duration ssePing,
    double traceSample,
    long memoryBudgetBytes) {

  /** Copies the lists. */
  public EdgeConfig {
    plans = List.copyOf(plans);
    models = List.copyOf(models);
    operations = List.copyOf(operations);
  }
}
