package dev.sluice.keys;

import dev.sluice.access.KeyHash;
import dev.sluice.yaml.Fault;
import dev.sluice.yaml.Reading;
import dev.sluice.yaml.WatchedFile;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the keys file. A good new version takes effect at the second poll; a broken one, or none,
 * is logged with its faults and reported once, and the keys known before stay. One thread at a
 * time.
 */
public final class KeysWatcher {
  private static final Logger LOG = LoggerFactory.getLogger(KeysWatcher.class);

  private final FileKeyDirectory directory;
  private final Consumer<Reload> onReload;
  private final InstantSource clock;
  private WatchedFile file;
  private Set<String> planNames;
  private volatile @Nullable Object refused;

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

  /**
   * A version of a file that was taken or refused.
   *
   * @param file the file
   * @param result what became of it
   * @param told in a few words, what is in it, or what it changes
   * @param faults why it was refused; empty where it was not
   */
  public record Reload(Path file, Result result, String told, List<Fault> faults) {}

  /**
   * A watcher that has looked at nothing yet.
   *
   * @param file the keys file
   * @param planNames the plans that a subscription may have
   * @param directory what is given each good new version
   * @param clock what the file's age is measured by
   * @param onReload told of each version taken or refused, after it was; must not throw
   */
  public KeysWatcher(
      Path file,
      Set<String> planNames,
      FileKeyDirectory directory,
      InstantSource clock,
      Consumer<Reload> onReload) {
    this.file = new WatchedFile(file, clock);
    this.planNames = Set.copyOf(planNames);
    this.directory = directory;
    this.clock = clock;
    this.onReload = onReload;
  }

  /** Whether the version that was read last was refused. For all threads. */
  public boolean isRefused() {
    return refused != null;
  }

  /** Looks at the file once, and takes or refuses what is new. */
  public void poll() {
    Reading<byte[]> seen = file.poll();
    if (seen != null) {
      take(seen);
    }
  }

  /** Reads the file now, whether it has changed or not, and takes or refuses what is new. */
  public void read() {
    take(file.read());
  }

  private void take(Reading<byte[]> seen) {
    if (!(seen instanceof Reading.Good<byte[]> good)) {
      List<Fault> faults = ((Reading.Faulty<byte[]>) seen).faults();
      refuse(faults, faults);
      return;
    }
    KeyHash hash = KeyHash.of(good.value());
    if (hash.equals(directory.snapshot().contentHash())) {
      if (refused != null) {
        LOG.info("{}: is again the version whose keys are known", file.file());
        refused = null;
      }
      return;
    }
    if (hash.equals(refused)) {
      return;
    }
    Reading<KeysSnapshot> reading = KeysFile.parse(file.file(), good.value(), planNames);
    if (reading instanceof Reading.Good<KeysSnapshot> version) {
      take(version.value());
    } else {
      refuse(hash, ((Reading.Faulty<KeysSnapshot>) reading).faults());
    }
  }

  /**
   * Takes keys that were read together with a new configuration, and follows it.
   *
   * @param next the keys file that it names
   * @param plans the plans that a subscription may have
   */
  public void follow(Path next, Set<String> plans, KeysSnapshot keys) {
    if (!next.equals(file.file())) {
      file = new WatchedFile(next, clock);
    }
    planNames = Set.copyOf(plans);
    take(keys);
  }

  private void take(KeysSnapshot keys) {
    boolean isNew = !keys.contentHash().equals(directory.snapshot().contentHash());
    directory.replace(keys);
    refused = null;
    if (isNew) {
      String told = keys.keyCount() + " keys of " + keys.subscriptionCount() + " subscriptions";
      LOG.info("{}: new version taken, {}", file.file(), told);
      onReload.accept(new Reload(file.file(), Result.OK, told, List.of()));
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
        file.file(),
        directory.snapshot().keyCount(),
        faults.size());
    for (Fault fault : faults.subList(0, Math.min(faults.size(), Fault.MAX_TOLD))) {
      LOG.error("{}", fault);
    }
    onReload.accept(
        new Reload(
            file.file(),
            Result.REFUSED,
            "the " + directory.snapshot().keyCount() + " keys known before stay",
            faults));
  }
}
