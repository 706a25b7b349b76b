package dev.sluice.cluster;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many retries may be under way at once, so that retries cannot topple what is left of a
 * cluster. Exact by compare-and-set. Safe for all threads.
 */
final class RetryBudget {
  /** Retries for a hundred exchanges under way. */
  static final int PERCENT = 20;

  /** As many are always allowed: a quiet cluster could never retry otherwise. */
  static final int ALWAYS = 3;

  private final AtomicInteger underWay = new AtomicInteger();

  boolean tryBegin(int openExchanges) {
    int most = Math.max(ALWAYS, (int) (openExchanges * (long) PERCENT / 100));
    int now;
    do {
      now = underWay.get();
      if (now >= most) {
        return false;
      }
    } while (!underWay.compareAndSet(now, now + 1));
    return true;
  }

  void end() {
    underWay.decrementAndGet();
  }
}
