package dev.sluice.cluster;

import java.util.function.DoubleSupplier;

/** Draws two at random and picks the one with less load for its weight. */
final class LeastExchanges implements Balancer {
  /*
   * Two choices at random are nearly as good as looking at all [1], and a herd of threads that look
   * at the same moment does not run to the same endpoint. They are drawn by weight, without putting
   * back: drawn evenly, a heavy endpoint among many would not be drawn often enough for its share.
   *
   * [1] Mitzenmacher, The Power of Two Choices in Randomized Load Balancing, 2001
   */

  private final DoubleSupplier random;

  /**
   * @param random gives numbers from 0 to less than 1; safe for all threads
   */
  LeastExchanges(DoubleSupplier random) {
    this.random = random;
  }

  @Override
  public LiveEndpoint pick(LiveEndpoint[] candidates, double[] weights, long prefixHash) {
    double sum = 0;
    for (double weight : weights) {
      sum += weight;
    }
    int first = draw(weights, random.getAsDouble() * sum, -1);
    int second = draw(weights, random.getAsDouble() * (sum - weights[first]), first);
    return cost(candidates[second], weights[second]) < cost(candidates[first], weights[first])
        ? candidates[second]
        : candidates[first];
  }

  /**
   * The one at this point of the line on which all but one lie side by side, wide as they weigh.
   */
  private static int draw(double[] weights, double point, int except) {
    int drawn = except == 0 ? 1 : 0;
    double left = point;
    for (int i = drawn; i < weights.length; i++) {
      if (i != except) {
        drawn = i;
        left -= weights[i];
        if (left < 0) {
          break;
        }
      }
    }
    return drawn;
  }

  private static double cost(LiveEndpoint endpoint, double weight) {
    return (endpoint.openExchanges() + 1) / weight;
  }
}
