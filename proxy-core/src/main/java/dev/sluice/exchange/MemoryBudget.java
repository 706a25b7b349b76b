package dev.sluice.exchange;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the memory of all bodies and relay buffers that are held at once, and bounds it: new
 * requests are refused first, so that those under way have room. Safe for all threads.
 *
 * <table>
 *   <caption>What takes of it, and when that is refused</caption>
 *   <tr><th>what</th><th>refused</th></tr>
 *   <tr><td>the body of a request</td><td>past the limit</td></tr>
 *   <tr><td>an answer that is no stream</td><td>past the limit and half of it again</td></tr>
 *   <tr><td>relay buffers of a stream, each bounded by itself</td><td>never</td></tr>
 * </table>
 */
public final class MemoryBudget {
  /** Who asks for room. */
  enum Claim {
    /** A request that is not under way yet. */
    REQUEST,
    /** The answer to one that is. */
    ANSWER
  }

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
  boolean tryReserve(Claim claim, long bytes) {
    long most = claim == Claim.ANSWER ? limitBytes + limitBytes / 2 : limitBytes;
    long held = heldBytes.get();
    while (bytes <= most - held) {
      long seen = heldBytes.compareAndExchange(held, held + bytes);
      if (seen == held) {
        return true;
      }
      held = seen;
    }
    return false;
  }

  void release(long bytes) {
    resize(bytes, 0);
  }

  /**
   * Changes what one holder has without ever being refused: buffers of an answer that is under way,
   * which must not fail for want of room.
   *
   * @return what the holder has now
   */
  long resize(long bytes, long nowBytes) {
    if (nowBytes != bytes) { // all loops share the counter: writing it takes it from the others
      heldBytes.addAndGet(nowBytes - bytes);
    }
    return nowBytes;
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

  /** How many bytes are held now; more than the limit where those under way need them. */
  public long heldBytes() {
    return heldBytes.get();
  }

  /** How many bytes may be held before new requests are refused. */
  public long limitBytes() {
    return limitBytes;
  }
}
