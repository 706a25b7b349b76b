package dev.sluice.cluster;

/** How an endpoint is picked for an attempt. */
public enum Balance {
  /**
   * The one with fewer open exchanges, for its weight, of two that are drawn at random. Streams
   * live for minutes: turns would pile them up where they end late.
   */
  LEAST_EXCHANGES,
  /**
   * The same one for requests whose first messages are equal, while its load is within a bound of
   * the mean: a model server that has those messages in its prefix cache answers sooner.
   */
  PREFIX_AFFINITY
}
