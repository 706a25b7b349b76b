package dev.sluice.admin;

import dev.sluice.exchange.OpenExchange;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What operators can see and change while Sluice runs. Called on the admin listener's loop; must
 * not block.
 */
public interface Operations {

  /** The ids of the models that are configured now. */
  List<String> models();

  /**
   * What is in maintenance, with the seconds that are left, rounded up; {@link
   * dev.sluice.pipeline.Maintenance#ALL} stands for all models.
   */
  Map<String, Long> maintenance();

  /**
   * Begins the maintenance of one model or all, or moves its end.
   *
   * @param model a model's id, or {@link dev.sluice.pipeline.Maintenance#ALL}
   * @param length how long from now; zero ends it
   */
  void maintain(String model, Duration length);

  /** How far a drain is. */
  DrainReport drain();

  /**
   * Begins to drain, which nothing ends but the end of the process.
   *
   * @param deadline when what still runs is ended, from now; null for the configured grace period,
   *     or for the deadline of the drain under way
   */
  void drain(@Nullable Duration deadline);

  /** All endpoints of all models, in the order of the configuration. */
  List<EndpointReport> endpoints();

  /** What is wrong now, the worst first. */
  List<Problem> problems();

  /** How much is under way, and how much may be. */
  Overview overview();

  /**
   * The oldest exchanges under way. Completes on any thread.
   *
   * @param most how many at most
   */
  CompletionStage<List<OpenExchange>> oldestExchanges(int most);

  /** The files that were read again lately, the newest first; at first what the start read. */
  List<ReloadReport> reloads();

  /** Uses an endpoint no longer, until it is restored; without effect where there is none. */
  void eject(String model, String endpoint);

  /** Uses an endpoint again; without effect where there is none. */
  void restore(String model, String endpoint);

  /**
   * How far a drain is.
   *
   * @param draining whether one has begun
   * @param deadlineSeconds when what still runs is ended, from now, rounded up; 0 where it was
   * @param exchanges how many exchanges are under way
   * @param streams how many of them hold a stream slot
   */
  record DrainReport(boolean draining, long deadlineSeconds, int exchanges, int streams) {}

  /**
   * One endpoint of one model.
   *
   * @param model the model's id
   * @param id names the endpoint among those of its model
   * @param state whether it is used, and if not, why; in lower case
   * @param waitSeconds how long it is not used, rounded up; 0 where it is, null where nobody knows
   * @param failing whether its last attempts all failed, though it may be used
   * @param openExchanges how many attempts are under way at it
   * @param weight its share beside the others
   */
  record EndpointReport(
      String model,
      String id,
      String state,
      @Nullable Long waitSeconds,
      boolean failing,
      int openExchanges,
      int weight) {}

  /**
   * Something that is not as it should be.
   *
   * @param isAlarm whether callers are refused for it, or the next restart would fail
   * @param text what it is, in a sentence or two
   */
  record Problem(boolean isAlarm, String text) {}

  /**
   * How much is under way, and how much may be.
   *
   * @param exchanges how many exchanges are under way
   * @param streams how many of them hold a stream slot
   * @param connections how many downstream connections are open
   * @param memoryHeldBytes what bodies and relays hold
   * @param plans each plan's slots, by name
   */
  record Overview(
      int exchanges,
      int maxExchanges,
      int streams,
      int connections,
      int maxConnections,
      long memoryHeldBytes,
      long memoryLimitBytes,
      List<PlanReport> plans) {}

  /**
   * The stream slots of one plan.
   *
   * @param name the plan's name
   * @param slotsInUse how many of its streams run now
   * @param slots how many may
   */
  record PlanReport(String name, int slotsInUse, int slots) {}

  /**
   * A version of a file that was read while Sluice ran, or at its start.
   *
   * @param at when
   * @param file the file
   * @param isRefused whether it has faults, and the version before stays
   * @param told what it changes, in a few words
   * @param faults some of its faults, each with its place
   */
  record ReloadReport(
      Instant at, String file, boolean isRefused, String told, List<String> faults) {}
}
