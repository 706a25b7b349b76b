package dev.sluice.lifecycle;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.sluice.access.KeyHash;
import dev.sluice.config.ConfigDifference;
import dev.sluice.config.ConfigJson;
import dev.sluice.config.SluiceConfig;
import dev.sluice.keys.FileKeyDirectory;
import dev.sluice.keys.KeysWatcher;
import dev.sluice.yaml.Fault;
import dev.sluice.yaml.Reading;
import dev.sluice.yaml.WatchedFile;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the configuration file and the keys file. A new version of the configuration is read
 * together with the keys file that it names, and both take effect together, or, where either has a
 * fault, neither. The keys file alone is taken whenever it fits the plans that are in effect,
 * whatever has become of the configuration file: a revocation waits for nothing.
 */
final class ConfigWatcher implements AutoCloseable {
  /*
   * A version that was refused for the sake of its keys file gets another try when that file
   * changes: whoever renames a plan edits two files, one after the other. So while a version is
   * refused the keys file that it names is watched for it, too; that may be another than the one
   * whose keys are known.
   */
  private static final Logger LOG = LoggerFactory.getLogger(ConfigWatcher.class);

  private static final JsonFactory JSON = new JsonFactory();

  private final ConfigFiles files;
  private final WatchedFile file;
  private final KeysWatcher keys;
  private final InstantSource clock;
  private final Listener listener;
  private final ScheduledThreadPoolExecutor thread = thread();
  private volatile Told told;

  // On the watcher's thread alone.
  private KeyHash inEffect;
  private @Nullable Refused refused;

  /** What a new version is for. Called on the watcher's thread. */
  interface Listener {
    /**
     * Has a version take effect.
     *
     * @param keysToo replaces the keys: to be run when keys of either version find their plan
     */
    void take(SluiceConfig config, Runnable keysToo);

    /** A version was taken or refused. Must not throw. */
    void reloaded(KeysWatcher.Reload reload);
  }

  /**
   * A version that did not take effect, and why.
   *
   * @param contents null where there is no file
   * @param keysFile the keys file that it names, where that is known
   */
  private record Refused(
      @Nullable KeyHash contentHash,
      List<Fault> faults,
      Reading<byte[]> contents,
      @Nullable WatchedFile keysFile) {
    boolean isOf(@Nullable KeyHash hash, List<Fault> others) {
      return faults.equals(others)
          && (hash == null ? contentHash == null : hash.equals(contentHash));
    }
  }

  /** What operators are told. Immutable. */
  private record Told(
      int version, Instant loadedAt, SluiceConfig config, Instant readAt, List<Fault> faults) {
    Told read(Instant now, List<Fault> found) {
      return new Told(version, loadedAt, config, now, found);
    }
  }

  /**
   * A watcher that has looked at nothing yet.
   *
   * @param started the versions that are in effect
   * @param directory what is given each good new version of the keys
   * @param clock what the files' age is measured by
   * @param onKeysReload told of each version of the keys taken or refused; must not throw
   */
  ConfigWatcher(
      ConfigFiles files,
      GoodFiles started,
      FileKeyDirectory directory,
      InstantSource clock,
      Consumer<KeysWatcher.Reload> onKeysReload,
      Listener listener) {
    SluiceConfig config = started.config();
    this.files = files;
    this.file = new WatchedFile(files.file(), clock);
    this.keys =
        new KeysWatcher(config.keysFile(), config.plans().keySet(), directory, clock, onKeysReload);
    this.clock = clock;
    this.listener = listener;
    this.inEffect = started.contentHash();
    Instant now = clock.instant();
    this.told = new Told(1, now, config, now, List.of());
  }

  private static ScheduledThreadPoolExecutor thread() {
    return new ScheduledThreadPoolExecutor(
        1,
        task -> {
          Thread thread = new Thread(task, "sluice-files");
          thread.setDaemon(true);
          return thread;
        },
        new ThreadPoolExecutor.DiscardPolicy());
  }

  /** Watches from now on, until closed. */
  void start() {
    thread.scheduleWithFixedDelay(
        this::poll, WatchedFile.POLL_MILLIS, WatchedFile.POLL_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Reads both files at once, whether they have changed or not. Returns before that is done. */
  void reloadSoon() {
    thread.execute(this::reload);
  }

  /** Ends the watch. Does not wait for a reload that is under way. */
  @Override
  public void close() {
    thread.shutdownNow();
  }

  /** Looks at both files once. */
  void poll() {
    goingOn(this::pollConfig);
    goingOn(keys::poll);
  }

  /** Reads both files. */
  void reload() {
    LOG.info("{}: is read again, as SIGHUP asks", file.file());
    refused = null; // whoever asks again is told again
    goingOn(() -> read(file.read(), true));
    goingOn(keys::read);
  }

  /** A task that throws is never run again, and then no revocation would ever take effect. */
  private void goingOn(Runnable look) {
    try {
      look.run();
    } catch (RuntimeException | Error e) {
      LOG.error("{}: the watch failed and goes on", file.file(), e);
    }
  }

  private void pollConfig() {
    Reading<byte[]> seen = file.poll();
    Refused before = refused;
    if (seen != null) {
      read(seen, false);
    } else if (before != null && before.keysFile != null && before.keysFile.poll() != null) {
      read(before.contents, false);
    }
  }

  private void read(Reading<byte[]> seen, boolean always) {
    if (!(seen instanceof Reading.Good<byte[]> good)) {
      refuse(null, ((Reading.Faulty<byte[]>) seen).faults(), seen, null);
      return;
    }
    byte[] contents = good.value();
    KeyHash hash = KeyHash.of(contents);
    if (hash.equals(inEffect) && !always) {
      isAgainInEffect();
      return;
    }
    ConfigFiles.Version version = files.read(contents, told.config);
    if (version.files() instanceof Reading.Good<GoodFiles> both) {
      take(both.value());
    } else {
      refuse(
          hash, ((Reading.Faulty<GoodFiles>) version.files()).faults(), seen, version.keysFile());
    }
  }

  private void isAgainInEffect() {
    if (refused != null) {
      LOG.info("{}: is again the version that is in effect", file.file());
      refused = null;
      told = told.read(clock.instant(), List.of());
    }
  }

  private void take(GoodFiles both) {
    SluiceConfig config = both.config();
    String difference = ConfigDifference.between(told.config, config);
    listener.take(
        config, () -> keys.follow(config.keysFile(), config.plans().keySet(), both.keys()));
    inEffect = both.contentHash();
    refused = null;
    Instant now = clock.instant();
    told = new Told(told.version + 1, now, config, now, List.of());
    listener.reloaded(
        new KeysWatcher.Reload(file.file(), KeysWatcher.Result.OK, difference, List.of()));
    LOG.info("{}: new version taken: {}", file.file(), difference);
  }

  /** Logs and reports a version once, however often it is seen. */
  private void refuse(
      @Nullable KeyHash hash,
      List<Fault> faults,
      Reading<byte[]> contents,
      @Nullable Path keysFile) {
    Refused before = refused;
    if (before != null && before.isOf(hash, faults)) {
      return;
    }
    refused = new Refused(hash, faults, contents, watched(before, keysFile));
    told = told.read(clock.instant(), faults);
    listener.reloaded(
        new KeysWatcher.Reload(
            file.file(), KeysWatcher.Result.REFUSED, "the version before stays in effect", faults));
    LOG.error(
        "{}: new version refused, the one before stays in effect; faults: {}",
        file.file(),
        faults.size());
    for (Fault fault : faults.subList(0, Math.min(faults.size(), Fault.MAX_TOLD))) {
      LOG.error("{}", fault);
    }
  }

  /** The watch of the same file goes on: a new one would see a change in what it has not read. */
  private @Nullable WatchedFile watched(@Nullable Refused before, @Nullable Path keysFile) {
    if (keysFile == null) {
      return null;
    }
    WatchedFile last = before == null ? null : before.keysFile;
    return last != null && last.file().equals(keysFile) ? last : new WatchedFile(keysFile, clock);
  }

  /**
   * How many faults the version has that was read last; 0 where it is in effect. For all threads.
   */
  int refusedFaults() {
    return told.faults.size();
  }

  /** Whether the version of the keys that was read last was refused. For all threads. */
  boolean areKeysRefused() {
    return keys.isRefused();
  }

  /** When the version that is in effect was taken. For all threads. */
  Instant loadedAt() {
    return told.loadedAt;
  }

  /**
   * What is in effect, since when, and what became of the version that was read last, as one JSON
   * object without secrets. For all threads.
   *
   * @param memoryBudgetBytes what {@code limits.memory-budget} came to
   */
  String json(long memoryBudgetBytes) {
    Told now = told;
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text).useDefaultPrettyPrinter()) {
      json.writeStartObject();
      json.writeNumberField("version", now.version);
      json.writeStringField("loaded_at", now.loadedAt.toString());
      json.writeStringField("file", file.file().toString());
      json.writeObjectFieldStart("last_read");
      json.writeStringField("at", now.readAt.toString());
      json.writeStringField("result", now.faults.isEmpty() ? "ok" : "refused");
      json.writeNumberField("fault_count", now.faults.size());
      json.writeArrayFieldStart("faults");
      for (Fault fault : now.faults.subList(0, Math.min(now.faults.size(), Fault.MAX_TOLD))) {
        json.writeString(fault.toString());
      }
      json.writeEndArray();
      json.writeEndObject();
      json.writeFieldName("config");
      ConfigJson.write(json, now.config, memoryBudgetBytes);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory does not fail", e);
    }
    return text.append('\n').toString();
  }
}
