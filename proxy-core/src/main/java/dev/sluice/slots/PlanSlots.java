package dev.sluice.slots;

/** The slots of one plan: how many are in use, and how often one comes free. */
final class PlanSlots {
  final SlotCounter counter = new SlotCounter();
  final ReleaseRate rate;

  PlanSlots(long nowNanos) {
    rate = new ReleaseRate(nowNanos);
  }
}
