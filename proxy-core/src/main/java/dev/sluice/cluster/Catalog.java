package dev.sluice.cluster;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configured models, in their order, each with its cluster. Immutable. */
public final class Catalog {
  private final List<Model> models;
  private final List<Cluster> clusters;
  private final Map<String, Cluster> byId;

  /** A catalog of these models, of whose endpoints nothing is known yet. */
  public Catalog(Collection<Model> models) {
    this(models, null);
  }

  /**
   * A catalog of these models. What is known of an endpoint's load and health is kept where it
   * differs in nothing but its weight from one of the same model before.
   *
   * @param before the catalog that this one replaces; null where there was none
   */
  public Catalog(Collection<Model> models, @Nullable Catalog before) {
    this.models = List.copyOf(models);
    Map<String, Cluster> made = new LinkedHashMap<>();
    for (Model model : this.models) {
      Cluster known = before == null ? null : before.find(model.id());
      if (made.put(model.id(), new Cluster(model, known)) != null) {
        throw new IllegalArgumentException("model: " + model.id() + " (expected: each id once)");
      }
    }
    this.clusters = List.copyOf(made.values());
    this.byId = Map.copyOf(made);
  }

  /** All models, in the order of the configuration. */
  public List<Model> models() {
    return models;
  }

  /** The clusters of all models, in the same order. */
  public List<Cluster> clusters() {
    return clusters;
  }

  /** The cluster of the model with this id; null where there is none. */
  public @Nullable Cluster find(String modelId) {
    return byId.get(modelId);
  }
}
