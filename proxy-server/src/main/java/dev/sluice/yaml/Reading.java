package dev.sluice.yaml;

import java.util.List;

/**
 * What the reading of a file came to: a value without any fault, or every fault.
 *
 * @param <T> what the file holds
 */
public sealed interface Reading<T> {

  /**
   * The file is good.
   *
   * @param value what it holds
   */
  record Good<T>(T value) implements Reading<T> {}

  /**
   * The file is refused.
   *
   * @param faults all faults in the order of the file; at least one
   */
  record Faulty<T>(List<Fault> faults) implements Reading<T> {
    /** Copies the list and refuses an empty one. */
    public Faulty {
      faults = List.copyOf(faults);
      if (faults.isEmpty()) {
        throw new IllegalArgumentException("faults: none (expected: at least one)");
      }
    }
  }
}
