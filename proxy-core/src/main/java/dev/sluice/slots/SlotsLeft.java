package dev.sluice.slots;

/**
 * How near a caller was to its bound when it took a slot, or was refused one. Of the plan; of the
 * key where the plan bounds the streams of one key and that leaves fewer.
 *
 * @param limit how many streams may run at once, at least 1
 * @param remaining how many more could have been started right after; 0 to {@code limit - 1}
 */
public record SlotsLeft(int limit, int remaining) {}
