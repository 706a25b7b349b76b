package dev.sluice.lifecycle;

import dev.sluice.admin.Operations.ReloadReport;
import dev.sluice.keys.KeysWatcher.Reload;
import dev.sluice.keys.KeysWatcher.Result;
import dev.sluice.yaml.Fault;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The last twenty versions of the files that were taken or refused. Safe for all threads. */
final class ReloadLog {
  private static final int MOST = 20;

  private final InstantSource clock;
  private final Deque<ReloadReport> reloads = new ArrayDeque<>();

  /**
   * The log of a process that starts.
   *
   * @param file the configuration that it starts with
   */
  ReloadLog(Path file, InstantSource clock) {
    this.clock = clock;
    add(new Reload(file, Result.OK, "read at the start", List.of()));
  }

  synchronized void add(Reload reload) {
    List<Fault> told = reload.faults().subList(0, Math.min(reload.faults().size(), Fault.MAX_TOLD));
    reloads.addFirst(
        new ReloadReport(
            clock.instant(),
            reload.file().toString(),
            reload.result() == Result.REFUSED,
            reload.told(),
            told.stream().map(Fault::toString).toList()));
    if (reloads.size() > MOST) {
      reloads.removeLast();
    }
  }

  /** The newest first. */
  synchronized List<ReloadReport> newestFirst() {
    return List.copyOf(reloads);
  }
}
