package dev.sluice.config;

import dev.sluice.yaml.Reading;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Configuration texts for tests, read as a file. */
final class ConfigText {
  static final Instant CREATED = Instant.parse("2026-05-04T03:02:01Z");

  static final Map<String, String> ENVIRONMENT =
      Map.of(
          "SMALL_API_KEY", "up-secret-1",
          "ADMIN_TOKEN", "operators-only",
          "EMPTY", "",
          "LINES", "up-secret-2\n",
          "SPACED", "up secret-3",
          "UMLAUT", "up-secret-ü");

  /** Every name of the file, one value a line, so that a fault's line tells which it means. */
  static final String WHOLE =
      """
      listen: 10.1.2.3:8081
      admin: "[::1]:9902"
      access-log: logs/access.log
      limits:
        max-body-bytes: 512KiB
        max-connections: 50
        max-exchanges: 60
        head-timeout: 2s
        body-timeout: 1m
        memory-budget: 3072MiB
      keys: secrets/keys.yaml
      plans:
        free:
          streams: 2
          models: [small]
        pro:
          streams: 100
          streams-per-key: 10
          models: ["*"]
      models:
        small:
          upstream-model: llama-3.1-8b
          upstreams:
            - url: https://10.0.0.7:8000
              api-key-env: SMALL_API_KEY
              weight: 3
            - url: http://[fd00::7]/base/
          owned-by: acme
          timeouts:
            connect: 1s
            first-byte: 2m
            idle: 500ms
            total: 2h
          balance: prefix-affinity
          attempts: 3
          probe:
            path: /healthz?full=1
            interval: 1s
            timeout: 300ms
            healthy-after: 1
            unhealthy-after: 4
        openai/gpt-oss-120b:
          upstreams:
            - url: http://big.example
      operations:
        /v1/embeddings:
          messages: false
        /v1/chat/special.v2:
          messages: true
      sse-ping: 15s
      revoke: cut
      admin-token-env: ADMIN_TOKEN
      shutdown-grace: 1h
      status: 0.0.0.0:8082
      tracing:
        otlp: https://collector.example/otlp
        sample: 0.25
      """;

  private ConfigText() {}

  static ConfigFile read(Path directory, byte[] contents) {
    return ConfigFile.parse(directory.resolve("sluice.yaml"), contents, ENVIRONMENT, CREATED, null);
  }

  static SluiceConfig good(ConfigFile file) {
    if (file.config() instanceof Reading.Good<SluiceConfig> good) {
      return good.value();
    }
    throw new AssertionError(file.config());
  }

  /** The faults, each without the directory of the file. */
  static List<String> faults(Path directory, ConfigFile file) {
    if (file.config() instanceof Reading.Faulty<SluiceConfig> faulty) {
      String prefix = directory.resolve("sluice.yaml").toString();
      return faulty.faults().stream()
          .map(fault -> fault.toString().replace(prefix, "sluice.yaml"))
          .toList();
    }
    return List.of();
  }
}
