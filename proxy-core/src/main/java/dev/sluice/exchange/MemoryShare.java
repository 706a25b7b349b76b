package dev.sluice.exchange;

/**
 * What one holder has of the memory budget without ever being refused: buffers of an answer that is
 * under way, which must not fail for want of room. Event loop only.
 */
final class MemoryShare {
  private final MemoryBudget budget;
  private long bytes;

  MemoryShare(MemoryBudget budget) {
    this.budget = budget;
  }

  /** The holder has this many bytes now. */
  void set(long nowBytes) {
    if (nowBytes != bytes) {
      budget.take(nowBytes - bytes);
      bytes = nowBytes;
    }
  }
}
