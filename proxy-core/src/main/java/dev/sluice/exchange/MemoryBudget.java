package dev.sluice.exchange;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.util.concurrent.atomic.AtomicLong;

/** Bounds the memory of all bodies that are held at once. Safe for all threads. */
public final class MemoryBudget {
  private final AtomicLong heldBytes = new AtomicLong();
  private final long limitBytes;

  /** A budget of this many bytes, none of them held. */
  public MemoryBudget(long limitBytes) {
    if (limitBytes < 1) {
      throw new IllegalArgumentException("limitBytes: " + limitBytes + " (expected: >= 1)");
    }
    this.limitBytes = limitBytes;
  }

  /** Takes bytes out of the budget; false, and nothing taken, where they are not there. */
  boolean tryReserve(long bytes) {
    long held = heldBytes.get();
    while (bytes <= limitBytes - held) {
      long seen = heldBytes.compareAndExchange(held, held + bytes);
      if (seen == held) {
        return true;
      }
      held = seen;
    }
    return false;
  }

  void release(long bytes) {
    heldBytes.addAndGet(-bytes);
  }

  /** What is answered where there is no room for a body. */
  public static Failure exhausted() {
    return Failure.of(
        Reason.MEMORY_BUDGET,
        "Sluice holds as many bodies as it may. Wait the seconds in Retry-After, then send the"
            + " request again.");
  }

  /** Whether there is no room for another body. */
  public boolean isExhausted() {
    return heldBytes.get() >= limitBytes;
  }

  /** How many bytes are held now. */
  public long heldBytes() {
    return heldBytes.get();
  }

  /** How many bytes may be held at once. */
  public long limitBytes() {
    return limitBytes;
  }
}
