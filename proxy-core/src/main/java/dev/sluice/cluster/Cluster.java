package dev.sluice.cluster;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The endpoints that serve one model, and which of them is next. Safe for all threads. */
public final class Cluster {
  private final Model model;
  private final List<Endpoint> endpoints;
  private final AtomicInteger turn = new AtomicInteger();

  /** The cluster of a model's endpoints. */
  public Cluster(Model model) {
    this.model = model;
    this.endpoints = model.endpoints();
  }

  /** The model that is served. */
  public Model model() {
    return model;
  }

  /** Picks the endpoint of the next attempt: each in its turn. */
  public Endpoint pick() {
    return endpoints.size() == 1
        ? endpoints.get(0)
        : endpoints.get(Math.floorMod(turn.getAndIncrement(), endpoints.size()));
  }
}
