package dev.sluice.access;

import java.util.Set;

/**
 * What a subscription bought.
 *
 * @param name the plan's name; a metric label value
 * @param streams how many streams may run at once, over all keys on the plan; at least 1
 * @param streamsPerKey how many of them one key may run; at least 1, {@link #UNBOUNDED} for no
 *     bound
 * @param models the ids of the models in the plan; unused where {@code allModels}
 * @param allModels whether every configured model is in the plan
 */
public record Plan(
    String name, int streams, int streamsPerKey, Set<String> models, boolean allModels) {

  /** No bound on the streams of one key. */
  public static final int UNBOUNDED = Integer.MAX_VALUE;

  /** Copies the set and refuses bounds below 1. */
  public Plan {
    models = Set.copyOf(models);
    if (streams < 1) {
      throw new IllegalArgumentException("streams: " + streams + " (expected: >= 1)");
    }
    if (streamsPerKey < 1) {
      throw new IllegalArgumentException("streamsPerKey: " + streamsPerKey + " (expected: >= 1)");
    }
  }

  /** Whether the model with this id is in the plan. */
  public boolean includes(String modelId) {
    return allModels || models.contains(modelId);
  }
}
