package dev.sluice.slots;

/** The slots of one plan: how many are in use, and how often one comes free. */
final class PlanSlots {
  final BoundedCounter counter = new BoundedCounter();
  final ReleaseRate rate;

  PlanSlots(long nowNanos) {
    rate = new ReleaseRate(nowNanos);
  }
}
