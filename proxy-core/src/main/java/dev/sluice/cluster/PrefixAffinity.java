package dev.sluice.cluster;

/**
 * Picks the same endpoint for the same prefix, while its load is within a bound of its share of the
 * mean; else the prefix's next endpoint that is.
 */
final class PrefixAffinity implements Balancer {
  /*
   * Every prefix puts the endpoints in an order of its own, by a hash of prefix and endpoint, scaled
   * by weight [1]: the first of that order leads with a probability of its share of the weights, and
   * one that leaves or comes moves no prefixes but its own. The bound is that of consistent hashing
   * with bounded loads [2]: no endpoint holds more than 1.25 times its share, so a prefix that
   * everybody sends spills over into its second, third … endpoint. There is always one within the
   * bound, for not all can be over the mean.
   *
   * An endpoint in its slow start has a part of its weight, so its prefixes come back one by one.
   *
   * [1] Thaler and Ravishankar, Using name-based mappings to increase hit rates, 1998; the weights
   *     by -w / ln u are Schindelhauer and Schomaker's logarithmic method, 2005
   * [2] Mirrokni, Thorup and Zadimoghaddam, Consistent Hashing with Bounded Loads, 2016
   */

  /** How far over its share of the mean an endpoint may be. */
  static final double BOUND = 1.25;

  private final Balancer withoutPrefix;

  /**
   * @param withoutPrefix picks for requests that have no prefix
   */
  PrefixAffinity(Balancer withoutPrefix) {
    this.withoutPrefix = withoutPrefix;
  }

  @Override
  public LiveEndpoint pick(LiveEndpoint[] candidates, double[] weights, long prefixHash) {
    if (prefixHash == Cluster.NO_PREFIX) {
      return withoutPrefix.pick(candidates, weights, prefixHash);
    }
    double sum = 0;
    long load = 1; // with this one
    for (int i = 0; i < candidates.length; i++) {
      sum += weights[i];
      load += candidates[i].openExchanges();
    }
    double last = Double.POSITIVE_INFINITY;
    int first = -1;
    for (int tried = 0; tried < candidates.length; tried++) {
      int next = next(candidates, weights, prefixHash, last);
      if (next < 0) {
        break; // two of the same score: a chance of one in 2^53
      }
      first = first < 0 ? next : first;
      double bound = Math.ceil(BOUND * load * weights[next] / sum);
      if (candidates[next].openExchanges() + 1 <= bound) {
        return candidates[next];
      }
      last = score(candidates[next], weights[next], prefixHash);
    }
    return candidates[first]; // all were picked by other threads meanwhile
  }

  /** The one behind a score in the prefix's order; -1 where none is. */
  private static int next(
      LiveEndpoint[] candidates, double[] weights, long prefixHash, double behind) {
    int next = -1;
    double highest = -1;
    for (int i = 0; i < candidates.length; i++) {
      double score = score(candidates[i], weights[i], prefixHash);
      if (score < behind && score > highest) {
        highest = score;
        next = i;
      }
    }
    return next;
  }

  private static double score(LiveEndpoint endpoint, double weight, long prefixHash) {
    // 53 bits, and never 0 or 1, whose logarithms are no use.
    double u = ((mix(prefixHash ^ endpoint.idHash()) >>> 11) + 0.5) * 0x1.0p-53;
    return -weight / Math.log(u);
  }

  /** Of an endpoint's id: the same in every process, so that several send a prefix to one place. */
  static long hash(String id) {
    long hash = 0xcbf29ce484222325L; // FNV-1a
    for (int i = 0; i < id.length(); i++) {
      hash = (hash ^ id.charAt(i)) * 0x100000001b3L;
    }
    return mix(hash);
  }

  /** Lets every bit change half of all bits: the finalizer of MurmurHash3. */
  private static long mix(long value) {
    long hash = value;
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return hash ^ (hash >>> 33);
  }
}
