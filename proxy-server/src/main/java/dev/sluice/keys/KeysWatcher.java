package dev.sluice.keys;

import dev.sluice.access.KeyHash;
import dev.sluice.yaml.Fault;
import dev.sluice.yaml.Reading;
import dev.sluice.yaml.YamlFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the keys file. A good new version takes effect within two seconds; a broken one, or none,
 * is logged with its faults and reported once, and the keys known before stay.
 */
public final class KeysWatcher implements AutoCloseable {
  /*
   * Every POLL_MILLIS the file's stamp (time, size, identity, through symbolic links) is compared
   * with that of the version read last. Asking is what works for files that are renamed into place,
   * written in place, or behind a link that is swapped, on every file system.
   *
   * A change that is seen is read one poll later: a writer that is half through has until then to
   * finish. One poll and no more, or a file that is written all the time would never be read. So a
   * change takes effect after two polls at most.
   *
   * A file system's clock ticks in steps. While a file is younger than YOUNG, a second change can
   * hide in the step of the first, so its bytes are compared at every poll.
   */
  private static final Logger LOG = LoggerFactory.getLogger(KeysWatcher.class);

  static final long POLL_MILLIS = 500;
  static final Duration YOUNG = Duration.ofSeconds(3);
  static final int MAX_FAULTS_LOGGED = 50;

  private final Path file;
  private final Set<String> planNames;
  private final FileKeyDirectory directory;
  private final Consumer<Result> onReload;
  private final InstantSource clock;
  private @Nullable ScheduledThreadPoolExecutor scheduler;

  // Touched by poll() alone.
  private @Nullable Stamp read;
  private boolean waited;
  private @Nullable Object refused;

  /** What a reload came to. The label is a metric label value. */
  public enum Result {
    /** The new version's keys are known now. */
    OK,
    /** The new version is broken or gone; the keys known before stay. */
    REFUSED;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The name in lower case. */
    public String label() {
      return label;
    }
  }

  /** Tells two versions of a file apart, mostly. */
  private record Stamp(long modifiedMillis, long modifiedNanos, long bytes, Object identity) {}

  KeysWatcher(
      Path file,
      Set<String> planNames,
      FileKeyDirectory directory,
      InstantSource clock,
      Consumer<Result> onReload) {
    this.file = file;
    this.planNames = Set.copyOf(planNames);
    this.directory = directory;
    this.clock = clock;
    this.onReload = onReload;
  }

  /**
   * Starts to watch, on a daemon thread of its own, until closed.
   *
   * @param file the keys file
   * @param planNames the plans that a subscription may have
   * @param directory what is given each good new version
   * @param onReload told, on the watcher's thread, of each version taken or refused, after it was;
   *     must not throw
   */
  public static KeysWatcher start(
      Path file, Set<String> planNames, FileKeyDirectory directory, Consumer<Result> onReload) {
    KeysWatcher watcher =
        new KeysWatcher(file, planNames, directory, InstantSource.system(), onReload);
    watcher.schedule();
    return watcher;
  }

  private void schedule() {
    ScheduledThreadPoolExecutor single =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "sluice-keys");
              thread.setDaemon(true);
              return thread;
            });
    single.scheduleWithFixedDelay(
        this::pollAndGoOn, POLL_MILLIS, POLL_MILLIS, TimeUnit.MILLISECONDS);
    scheduler = single;
  }

  /** Ends the watch. Does not wait for a reload that is under way. */
  @Override
  public void close() {
    if (scheduler != null) {
      scheduler.shutdownNow();
    }
  }

  /** A task that throws is never run again, and then no revocation would ever take effect. */
  private void pollAndGoOn() {
    try {
      poll();
    } catch (RuntimeException | Error e) {
      LOG.error("{}: the watch failed and goes on", file, e);
    }
  }

  /** Looks at the file once. */
  void poll() {
    Stamp stamp = stamp();
    boolean changed = stamp == null || !stamp.equals(read);
    if (changed && !waited) {
      waited = true;
      return;
    }
    waited = false;
    if (!changed && !isYoung(stamp)) {
      return;
    }
    // Of the moment before the read: what changes after it is seen at the next poll.
    Reading<byte[]> contents = YamlFile.contents(file);
    if (contents instanceof Reading.Good<byte[]> good) {
      read = stamp;
      take(good.value());
    } else {
      read = null;
      List<Fault> faults = ((Reading.Faulty<byte[]>) contents).faults();
      refuse(faults, faults);
    }
  }

  private void take(byte[] contents) {
    KeyHash hash = KeyHash.of(contents);
    if (hash.equals(directory.snapshot().contentHash())) {
      if (refused != null) {
        LOG.info("{}: is again the version whose keys are known", file);
        refused = null;
      }
      return;
    }
    if (hash.equals(refused)) {
      return;
    }
    Reading<KeysSnapshot> reading = KeysFile.parse(file, contents, planNames);
    if (reading instanceof Reading.Good<KeysSnapshot> good) {
      KeysSnapshot snapshot = good.value();
      directory.replace(snapshot);
      refused = null;
      LOG.info(
          "{}: new version taken, {} keys of {} subscriptions",
          file,
          snapshot.keyCount(),
          snapshot.subscriptionCount());
      onReload.accept(Result.OK);
    } else {
      refuse(hash, ((Reading.Faulty<KeysSnapshot>) reading).faults());
    }
  }

  /** Logs and reports a version once, however often it is seen. */
  private void refuse(Object version, List<Fault> faults) {
    if (version.equals(refused)) {
      return;
    }
    refused = version;
    LOG.error(
        "{}: new version refused, the {} keys known before stay; faults: {}",
        file,
        directory.snapshot().keyCount(),
        faults.size());
    for (Fault fault : faults.subList(0, Math.min(faults.size(), MAX_FAULTS_LOGGED))) {
      LOG.error("{}", fault);
    }
    onReload.accept(Result.REFUSED);
  }

  private @Nullable Stamp stamp() {
    try {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      Object key = attributes.fileKey();
      return new Stamp(
          attributes.lastModifiedTime().toMillis(),
          attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS),
          attributes.size(),
          key == null ? file : key);
    } catch (IOException e) {
      return null;
    }
  }

  private boolean isYoung(@Nullable Stamp stamp) {
    return stamp != null && stamp.modifiedMillis() > clock.instant().minus(YOUNG).toEpochMilli();
  }
}
