package dev.sluice.yaml;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Collects the faults of one file. Not safe for threads. */
final class Faults {
  private final String file;
  private final List<Fault> faults = new ArrayList<>();

  Faults(Path file) {
    this.file = file.toString();
  }

  void add(int line, int column, String name, String found, String expected) {
    faults.add(new Fault(file, line, column, name, found, expected));
  }

  /** A fault of the file as a whole. */
  void add(String found, String expected) {
    add(0, 0, "", found, expected);
  }

  int size() {
    return faults.size();
  }

  <T> Reading<T> faulty() {
    return new Reading.Faulty<>(faults.stream().sorted(Fault.BY_PLACE).toList());
  }

  <T> Reading<T> reading(T value) {
    return faults.isEmpty() ? new Reading.Good<>(value) : faulty();
  }
}
