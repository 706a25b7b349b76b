package dev.sluice.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Endpoint;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The section {@code tracing}. */
final class TracingConfigTest {
  private static final String REST =
      "keys: k\nplans: {p: {streams: 1, models: [a]}}\n"
          + "models: {a: {upstreams: [{url: http://h}]}}\n";
  private static final Endpoint COLLECTOR = new Endpoint("c", 4318, false, "", null);

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 1", "0.5, 0.5", "0.000000001, 1e-9", "1.0, 1", "0.0, 0"})
  void aShareIsTaken(String text, double share) {
    assertThat(tracing("{otlp: http://c:4318, sample: " + text + "}"))
        .isEqualTo(new Tracing(COLLECTOR, share));
  }

  @Test
  void withoutAShareItIsATenth() {
    assertThat(tracing("{otlp: http://c:4318/}")).isEqualTo(new Tracing(COLLECTOR, 0.1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"-0.1", "1.1", "2", "1.000001", "10%", "half", ".5", "1e-3", "NaN", "[]"})
  void whatIsNoShareIsAFault(String text) {
    assertThat(faults("{otlp: http://c:4318, sample: \"" + text + "\"}", null))
        .contains("tracing.sample: \"" + text + "\" (expected: a share from 0 to 1, as in 0.1)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}                              | tracing.otlp: missing (expected: http or https,",
        "{sample: 1}                     | tracing.otlp: missing (expected: http or https,",
        "{otlp: 'grpc://c:4317'}         | tracing.otlp: grpc://c:4317 (expected: http or https,",
        "{otlp: 'http://u:p@c'}          | tracing.otlp: has user information (expected:",
        "{otlp: 'http://c', sampel: 1}   | tracing.sampel: unknown name (expected: one of otlp, sample",
        "http://c:4318                   | tracing: text (expected: a map with otlp, sample)",
      })
  void aFaultHasItsPlace(String section, String fault) {
    assertThat(faults(section.replace('\'', '"'), null)).contains("sluice.yaml:4: " + fault);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{otlp: 'http://c:4319', sample: 1} | http://c:4319, sample 1.0",
        "{otlp: 'http://c:4318', sample: 0} | http://c:4318, sample 0.0",
        "{otlp: 'http://c:4318'}            | http://c:4318, sample 0.1",
      })
  void itCannotChangeWhileSluiceRuns(String section, String now) {
    SluiceConfig running = good("{otlp: http://c:4318, sample: 1}");
    assertThat(faults(section.replace('\'', '"'), running))
        .contains("tracing: " + now + " (expected: http://c:4318, sample 1.0 until a restart)");
    assertThat(faults("{otlp: x, sample: y}", running))
        .contains("tracing.otlp: x (", "tracing.sample: y (")
        .doesNotContain("restart");
  }

  private Tracing tracing(String section) {
    return good(section).tracing();
  }

  private SluiceConfig good(String section) {
    return ConfigText.good(ConfigText.read(directory, text(section).getBytes(UTF_8)));
  }

  private String faults(String section, @Nullable SluiceConfig running) {
    return String.join(
        "\n",
        ConfigText.faults(
            directory,
            ConfigFile.parse(
                directory.resolve("sluice.yaml"),
                text(section).getBytes(UTF_8),
                ConfigText.ENVIRONMENT,
                ConfigText.CREATED,
                running)));
  }

  private static String text(String section) {
    return REST + "tracing: " + section + "\n";
  }
}
