package dev.sluice.cli;

import dev.sluice.config.ConfigFile;
import dev.sluice.config.SluiceConfig;
import dev.sluice.keys.KeysFile;
import dev.sluice.keys.KeysSnapshot;
import dev.sluice.yaml.Fault;
import dev.sluice.yaml.Reading;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The configuration file and the keys file that it names, both without a fault. */
record GoodFiles(SluiceConfig config, KeysSnapshot keys) {

  /** Reads both; where either is faulty every fault of both is given to {@code onFault}. */
  static @Nullable GoodFiles read(
      Path file, Map<String, String> environment, Instant created, Consumer<Fault> onFault) {
    ConfigFile read = ConfigFile.read(file, environment, created);
    List<Fault> faults = new ArrayList<>();
    @Nullable SluiceConfig config = good(read.config(), faults);
    Path keysFile = read.keysFile();
    @Nullable KeysSnapshot keys =
        keysFile == null ? null : good(KeysFile.read(keysFile, read.planNames()), faults);
    if (config != null && keys != null) {
      return new GoodFiles(config, keys);
    }
    faults.forEach(onFault);
    return null;
  }

  private static <T> @Nullable T good(Reading<T> reading, List<Fault> faults) {
    if (reading instanceof Reading.Good<T> good) {
      return good.value();
    }
    faults.addAll(((Reading.Faulty<T>) reading).faults());
    return null;
  }
}
