package dev.sluice.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class UsageTest {
  @Test
  void readsTimesAndMemoryWhateverTheProcessIsCalled() {
    String stat =
        "4711 (a) b (c)) S 1 4711 4711 0 -1 4194560 1 2 3 4 250 50 7 8 20 0 3 0 99 1000 20 5";
    String status = "Name:\ta) b (c)\nVmHWM:\t  99999 kB\nVmRSS:\t    2048 kB\nThreads:\t3\n";

    assertThat(Usage.parse(stat, status)).isEqualTo(new Usage(3_000_000, 2_048));
  }

  @Test
  void aProcessThatHasEndedUsesNothing() {
    assertThat(Usage.of(List.of((long) Integer.MAX_VALUE))).isEqualTo(new Usage(0, 0));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void readsProcessesOfThisMachine() {
    long own = ProcessHandle.current().pid();
    Usage once = Usage.of(List.of(own));

    assertThat(once.residentKib()).isGreaterThan(10_000);
    assertThat(Usage.of(List.of(own, own)).cpuMicros())
        .isGreaterThanOrEqualTo(2 * once.cpuMicros());
  }
}
