package dev.sluice.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.admin.Operations.ReloadReport;
import dev.sluice.keys.KeysWatcher.Reload;
import dev.sluice.keys.KeysWatcher.Result;
import dev.sluice.yaml.Fault;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The versions of the files that operators can look back at. */
class ReloadLogTest {
  private static final Path FILE = Path.of("/etc/sluice.yaml");

  private Instant now = Instant.parse("2026-05-04T03:02:01Z");
  private final ReloadLog log = new ReloadLog(FILE, () -> now);

  @Test
  void itBeginsWithTheStart() {
    assertThat(log.newestFirst())
        .containsExactly(
            new ReloadReport(now, FILE.toString(), false, "read at the start", List.of()));
  }

  @Test
  void theNewestIsTheFirstAndTellsItsFaults() {
    now = now.plusSeconds(1);
    Fault fault = new Fault(FILE.toString(), 3, 1, "listen", "0", "host:port");
    log.add(new Reload(FILE, Result.REFUSED, "stays", List.of(fault)));

    assertThat(log.newestFirst()).hasSize(2);
    assertThat(log.newestFirst().get(0))
        .isEqualTo(
            new ReloadReport(now, FILE.toString(), true, "stays", List.of(fault.toString())));
  }

  @Test
  void twentyAreKept() {
    for (int i = 0; i < 30; i++) {
      log.add(new Reload(FILE, Result.OK, "version " + i, List.of()));
    }

    assertThat(log.newestFirst()).hasSize(20);
    assertThat(log.newestFirst().get(0).told()).isEqualTo("version 29");
    assertThat(log.newestFirst().get(19).told()).isEqualTo("version 10");
  }

  @Test
  void ofManyFaultsSomeAreTold() {
    Fault fault = new Fault(FILE.toString(), 3, 1, "listen", "0", "host:port");
    log.add(new Reload(FILE, Result.REFUSED, "stays", Collections.nCopies(1000, fault)));

    assertThat(log.newestFirst().get(0).faults()).hasSize(Fault.MAX_TOLD);
  }
}
