package dev.sluice.config;

import dev.sluice.yaml.Reading;
import dev.sluice.yaml.YamlFile;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A configuration file that was read.
 *
 * @param config the configuration, or every fault of the file
 * @param keysFile the keys file that it names; null where that is a fault itself. Known for a
 *     faulty configuration too, so that both files can be checked at once
 * @param planNames the names of all plans in the file, faulty ones too
 */
public record ConfigFile(
    Reading<SluiceConfig> config, @Nullable Path keysFile, Set<String> planNames) {

  /** Copies the set. */
  public ConfigFile {
    planNames = Set.copyOf(planNames);
  }

  /**
   * Reads a configuration file. Blocks; never throws for what is in the file or in the environment.
   *
   * @param file the file; paths in it are relative to the directory it is in
   * @param environment where {@code api-key-env} is looked up
   * @param created when the models are said to have been created
   */
  public static ConfigFile read(Path file, Map<String, String> environment, Instant created) {
    Reading<byte[]> contents = YamlFile.contents(file);
    if (contents instanceof Reading.Good<byte[]> good) {
      ConfigReader reader = new ConfigReader(file, environment, created);
      Reading<SluiceConfig> config = YamlFile.parse(file, good.value(), reader::config);
      return new ConfigFile(config, reader.keysFile(), reader.planNames());
    }
    Reading.Faulty<byte[]> faulty = (Reading.Faulty<byte[]>) contents;
    return new ConfigFile(new Reading.Faulty<>(faulty.faults()), null, Set.of());
  }
}
