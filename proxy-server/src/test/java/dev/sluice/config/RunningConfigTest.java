package dev.sluice.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A version that is to replace another while the process runs: what it may change, and what not.
 */
final class RunningConfigTest {
  @TempDir private Path directory;
  private SluiceConfig running;

  @BeforeEach
  void start() {
    running = ConfigText.good(read(ConfigText.WHOLE, null));
  }

  @Test
  void theSameAgainIsWithoutFault() {
    assertThat(ConfigText.good(read(ConfigText.WHOLE, running))).isEqualTo(running);
    assertThat(ConfigDifference.between(running, running)).isEqualTo("nothing differs");
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          listen: 10.1.2.3:8081 | listen: 0.0.0.0:8081 | sluice.yaml:1: listen: 0.0.0.0:8081 (expected: 10.1.2.3:8081 until a restart)
          listen: 10.1.2.3:8081 | # | sluice.yaml:2: listen: 0.0.0.0:8080 by default (expected: 10.1.2.3:8081 until a restart)
          listen: 10.1.2.3:8081 | listen: 8081 | sluice.yaml:1: listen: 8081 (expected: host:port, the host a name, an IPv4 address, or an IPv6 address in brackets, as in "[::1]:8080" with its quotes)
          admin: "[::1]:9902" | admin: "[::1]:9903" | sluice.yaml:2: admin: [::1]:9903 (expected: [::1]:9902 until a restart)
          status: 0.0.0.0:8082 | status: 0.0.0.0:8083 | sluice.yaml:54: status: 0.0.0.0:8083 (expected: 0.0.0.0:8082 until a restart)
          status: 0.0.0.0:8082 | # | sluice.yaml:1: status: none by default (expected: 0.0.0.0:8082 until a restart)
          access-log: logs/access.log | access-log: stdout | sluice.yaml:3: access-log: stdout (expected: DIR/logs/access.log until a restart)
          access-log: logs/access.log | # | sluice.yaml:1: access-log: stdout by default (expected: DIR/logs/access.log until a restart)
          access-log: logs/access.log | access-log: stdot | sluice.yaml:3: access-log: stdot (expected: none, stdout, or the path of a file, with a / or a . in it)
          memory-budget: 3072MiB | memory-budget: 1GiB | sluice.yaml:10: limits.memory-budget: 1GiB (expected: 3GiB until a restart)
          memory-budget: 3072MiB | # | sluice.yaml:5: limits.memory-budget: half the direct memory by default (expected: 3GiB until a restart)
          memory-budget: 3072MiB | memory-budget: 1 | sluice.yaml:10: limits.memory-budget: 1 (expected: a size from 1048576B to 1024GiB, as in 2GiB; units B, kB, KiB, MB, MiB, GB, GiB)
          """)
  void whatCannotChangeIsAFaultWithItsPlace(String line, String instead, String fault) {
    assertThat(ConfigText.WHOLE).contains(line);
    ConfigFile changed = read(ConfigText.WHOLE.replace(line, instead), running);
    assertThat(ConfigText.faults(directory, changed))
        .containsExactly(fault.replace("DIR", directory.toString()));
  }

  @Test
  void aWholeBlockThatIsGoneHasThePlaceOfWhatItStoodIn() {
    String text = ConfigText.WHOLE.replaceFirst("limits:\n( .*\n)+", "");
    assertThat(text).doesNotContain("limits:");
    assertThat(ConfigText.faults(directory, read(text, running)))
        .containsExactly(
            "sluice.yaml:1: limits.memory-budget: half the direct memory by default (expected: 3GiB"
                + " until a restart)");
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          max-body-bytes: 512KiB | max-body-bytes: 1MiB | limits.max-body-bytes: 512KiB, now 1MiB
          max-connections: 50 | max-connections: 49 | limits.max-connections: 50, now 49
          max-exchanges: 60 | # | limits.max-exchanges: 60, now 10000
          head-timeout: 2s | head-timeout: 1500ms | limits.head-timeout: 2s, now 1500ms
          body-timeout: 1m | body-timeout: 90s | limits.body-timeout: 1m, now 90s
          keys: secrets/keys.yaml | keys: /k | keys: DIR/secrets/keys.yaml, now /k
          streams: 2 | streams: 3 | plans changed: free
          free: | gratis: | plans added: gratis; plans removed: free
          models: ["*"] | models: [small] | plans changed: pro
          weight: 3 | weight: 4 | models changed: small
          api-key-env: SMALL_API_KEY | # | models changed: small
          openai/gpt-oss-120b: | other: | models added: other; models removed: openai/gpt-oss-120b
          /v1/embeddings: | /v1/vectors: | operations added: /v1/vectors; operations removed: /v1/embeddings
          messages: true | messages: false | operations changed: /v1/chat/special.v2
          sse-ping: 15s | # | sse-ping: 15s, now none
          revoke: cut | # | revoke: cut, now finish
          admin-token-env: ADMIN_TOKEN | admin-token-env: SMALL_API_KEY | admin-token-env: another token
          shutdown-grace: 1h | shutdown-grace: 0s | shutdown-grace: 1h, now 0ms
          """)
  void whatCanChangeIsTold(String line, String instead, String difference) {
    assertThat(ConfigText.WHOLE).contains(line);
    SluiceConfig changed = ConfigText.good(read(ConfigText.WHOLE.replace(line, instead), running));
    assertThat(ConfigDifference.between(running, changed))
        .isEqualTo(difference.replace("DIR", directory.toString()));
  }

  @Test
  void anotherOrderOfModelsIsTold() {
    String one = "models: {a: {upstreams: [{url: http://h}]}, b: {upstreams: [{url: http://h}]}}\n";
    String two = "models: {b: {upstreams: [{url: http://h}]}, a: {upstreams: [{url: http://h}]}}\n";
    String rest = "keys: k\nplans: {p: {streams: 1, models: [a]}}\n";
    assertThat(
            ConfigDifference.between(
                ConfigText.good(read(rest + one, null)), ConfigText.good(read(rest + two, null))))
        .isEqualTo("models: in another order");
  }

  @Test
  void aLongListOfNamesIsCut() {
    StringBuilder operations = new StringBuilder("operations:\n");
    for (int i = 0; i < 20; i++) {
      operations.append("  /v1/x").append(i).append(": {messages: false}\n");
    }
    String text = ConfigText.WHOLE.replace("operations:\n", operations);
    assertThat(ConfigDifference.between(running, ConfigText.good(read(text, running))))
        .startsWith("operations added: /v1/x0, /v1/x1, ")
        .endsWith(", /v1/x11 and 8 more");
  }

  private ConfigFile read(String text, @Nullable SluiceConfig before) {
    return ConfigFile.parse(
        directory.resolve("sluice.yaml"),
        text.getBytes(UTF_8),
        ConfigText.ENVIRONMENT,
        ConfigText.CREATED,
        before);
  }
}
