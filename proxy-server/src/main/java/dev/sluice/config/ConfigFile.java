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
   * Reads a configuration file whose bytes are at hand. Never throws for what is in it, or in the
   * environment.
   *
   * @param file the file, which is not touched; paths in it are relative to the directory it is in
   * @param environment where {@code api-key-env} is looked up
   * @param created when the models are said to have been created
   * @param running what this is to replace while it runs: what cannot change then is a fault where
   *     it differs; null at the start
   */
  public static ConfigFile parse(
      Path file,
      byte[] contents,
      Map<String, String> environment,
      Instant created,
      @Nullable SluiceConfig running) {
    ConfigReader reader = new ConfigReader(file, environment, created, running);
    Reading<SluiceConfig> config = YamlFile.parse(file, contents, reader::config);
    return new ConfigFile(config, reader.keysFile(), reader.planNames());
  }
}
