package dev.sluice.testing;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits for what another process or thread brings about. */
public final class Eventually {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private Eventually() {}

  /** Waits up to ten seconds for a condition, and fails with its description after. */
  public static void that(String description, Callable<Boolean> condition) {
    within(PATIENCE, description, condition);
  }

  /** Waits up to a bound for a condition, and fails with its description after. */
  public static void within(Duration bound, String description, Callable<Boolean> condition) {
    long deadline = System.nanoTime() + bound.toNanos();
    try {
      while (!condition.call()) {
        if (System.nanoTime() - deadline > 0) {
          throw new AssertionError("not within " + bound.toMillis() + " ms: " + description);
        }
        pause(Duration.ofMillis(10));
      }
    } catch (Exception e) {
      throw new AssertionError(description, e);
    }
  }

  /** Lets real time pass: for what the process under test measures by its own clock. */
  public static void pause(Duration time) {
    long deadline = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = deadline - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
