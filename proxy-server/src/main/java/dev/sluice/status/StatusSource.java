package dev.sluice.status;

import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Plan;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What the status page tells of. Called on its listener's loop; must not block. */
public interface StatusSource {

  /** Whether Sluice has not taken requests yet. */
  boolean isStarting();

  /** The models that are configured now, in their order. */
  List<ModelStatus> models();

  /** What is known of a key; empty where there is none, failed where nobody can say now. */
  CompletionStage<Optional<Key>> key(KeyHash hash);

  /** The plan with this name; null where there is none. */
  @Nullable Plan plan(String name);

  /** How many streams of the plan run now. */
  int slotsInUse(String plan);

  /** How many streams of the key with this name run now. */
  int slotsInUseByKey(String key);

  /**
   * How one model is.
   *
   * @param id the model's id
   * @param availability whether it answers
   * @param until when its maintenance ends, to the second; null where it is in none
   */
  record ModelStatus(String id, Availability availability, @Nullable Instant until) {}
}
