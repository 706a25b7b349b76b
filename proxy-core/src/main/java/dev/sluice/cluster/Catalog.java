package dev.sluice.cluster;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configured models, in their order, each with its cluster. Immutable. */
public final class Catalog {
  private final List<Model> models;
  private final Map<String, Cluster> clusters;

  /** A catalog of these models. */
  public Catalog(Collection<Model> models) {
    this.models = List.copyOf(models);
    Map<String, Cluster> byId = new LinkedHashMap<>();
    for (Model model : this.models) {
      if (byId.put(model.id(), new Cluster(model)) != null) {
        throw new IllegalArgumentException("model: " + model.id() + " (expected: each id once)");
      }
    }
    this.clusters = Map.copyOf(byId);
  }

  /** All models, in the order of the configuration. */
  public List<Model> models() {
    return models;
  }

  /** The cluster of the model with this id; null where there is none. */
  public @Nullable Cluster find(String modelId) {
    return clusters.get(modelId);
  }
}
