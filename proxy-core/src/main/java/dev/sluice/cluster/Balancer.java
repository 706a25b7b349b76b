package dev.sluice.cluster;

/**
 * A policy: picks one of several endpoints. Knows nothing of health; what it may pick from, and how
 * much each counts, it is told. Stateless, safe for all threads.
 */
interface Balancer {
  /**
   * Picks one.
   *
   * @param candidates at least two; not changed
   * @param weights of the candidates, each over 0; not changed
   * @param prefixHash of the request's first messages, or {@link Cluster#NO_PREFIX}
   */
  LiveEndpoint pick(LiveEndpoint[] candidates, double[] weights, long prefixHash);
}
