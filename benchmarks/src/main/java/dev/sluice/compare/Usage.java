package dev.sluice.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * What processes have used, by {@code /proc} of Linux.
 *
 * @param cpuMicros user and system time, in steps of 10 ms
 * @param residentKib resident memory; pages that processes share are counted for each
 */
record Usage(long cpuMicros, long residentKib) {
  /** {@code USER_HZ} is 100 on every Linux that a JVM runs on. */
  private static final long MICROS_PER_TICK = 10_000;

  /** Fields 14 and 15 of {@code stat}, counted behind the name: {@code utime} and {@code stime}. */
  private static final int UTIME = 11;

  /** What these processes have used together. */
  static Usage of(List<Long> processIds) {
    return processIds.stream()
        .map(Usage::of)
        .reduce(
            new Usage(0, 0),
            (a, b) -> new Usage(a.cpuMicros + b.cpuMicros, a.residentKib + b.residentKib));
  }

  private static Usage of(long processId) {
    Path proc = Path.of("/proc", Long.toString(processId));
    try {
      return parse(
          Files.readString(proc.resolve("stat")), Files.readString(proc.resolve("status")));
    } catch (NoSuchFileException e) {
      return new Usage(0, 0); // it has ended
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads {@code stat} and {@code status}; a process's name may hold spaces and parentheses. */
  static Usage parse(String stat, String status) {
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    long ticks = Long.parseLong(fields[UTIME]) + Long.parseLong(fields[UTIME + 1]);
    long resident =
        status
            .lines()
            .filter(line -> line.startsWith("VmRSS:"))
            .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
            .sum();
    return new Usage(ticks * MICROS_PER_TICK, resident);
  }
}
