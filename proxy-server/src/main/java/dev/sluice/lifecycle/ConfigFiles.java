package dev.sluice.lifecycle;

import dev.sluice.access.KeyHash;
import dev.sluice.config.ConfigFile;
import dev.sluice.config.SluiceConfig;
import dev.sluice.keys.KeysFile;
import dev.sluice.keys.KeysSnapshot;
import dev.sluice.yaml.Fault;
import dev.sluice.yaml.Reading;
import dev.sluice.yaml.YamlFile;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the configuration comes from: its file, which names the keys file, and what the process was
 * started with. Safe for all threads.
 */
public final class ConfigFiles {
  private final Path file;
  private final Map<String, String> environment;
  private final Instant created;

  /**
   * Reads nothing yet.
   *
   * @param file the configuration file; paths in it are relative to the directory it is in
   * @param environment where credentials are looked up, as it was at the start
   * @param created when the models are said to have been created
   */
  public ConfigFiles(Path file, Map<String, String> environment, Instant created) {
    this.file = file;
    this.environment = environment;
    this.created = created;
  }

  /**
   * What one version came to.
   *
   * @param files both files, or every fault of both
   * @param keysFile the keys file that it names; null where that is a fault itself
   */
  record Version(Reading<GoodFiles> files, @Nullable Path keysFile) {}

  /** The configuration file. */
  Path file() {
    return file;
  }

  /** Reads both files, for a start. Blocks. */
  public Reading<GoodFiles> read() {
    Reading<byte[]> contents = YamlFile.contents(file);
    return contents instanceof Reading.Good<byte[]> good
        ? read(good.value(), null).files()
        : new Reading.Faulty<>(((Reading.Faulty<byte[]>) contents).faults());
  }

  /**
   * Reads the keys file that a configuration names, and checks both. Blocks.
   *
   * @param contents the bytes of the configuration file
   * @param running what this is to replace; null at the start
   */
  Version read(byte[] contents, @Nullable SluiceConfig running) {
    ConfigFile read = ConfigFile.parse(file, contents, environment, created, running);
    List<Fault> faults = new ArrayList<>();
    SluiceConfig config = good(read.config(), faults);
    Path keysFile = read.keysFile();
    KeysSnapshot keys =
        keysFile == null ? null : good(KeysFile.read(keysFile, read.planNames()), faults);
    return new Version(
        config != null && keys != null
            ? new Reading.Good<>(new GoodFiles(config, keys, KeyHash.of(contents)))
            : new Reading.Faulty<>(faults),
        keysFile);
  }

  private static <T> @Nullable T good(Reading<T> reading, List<Fault> faults) {
    if (reading instanceof Reading.Good<T> good) {
      return good.value();
    }
    faults.addAll(((Reading.Faulty<T>) reading).faults());
    return null;
  }
}
