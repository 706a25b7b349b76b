package dev.sluice.http;

import io.netty.util.concurrent.FastThreadLocal;
import java.security.SecureRandom;
import java.util.SplittableRandom;

/** Random bits for ids. Safe for all threads. */
final class RandomBits {
  /*
   * Ids are told apart, not trusted: a fast generator, seeded once a thread from a good one, is
   * enough, and two processes do not repeat each other's.
   */
  private static final FastThreadLocal<SplittableRandom> RANDOM =
      new FastThreadLocal<>() {
        @Override
        protected SplittableRandom initialValue() {
          return new SplittableRandom(new SecureRandom().nextLong());
        }
      };

  private RandomBits() {}

  /** The calling thread's generator. */
  static SplittableRandom ofThread() {
    return RANDOM.get();
  }
}
