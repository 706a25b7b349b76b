package dev.sluice.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A configuration as operators are shown it. */
final class ConfigJsonTest {
  private static final String LEAST =
      """
      keys: keys.yaml
      plans: {one: {streams: 1, models: ["*"]}}
      models: {m: {upstreams: [{url: "http://h"}]}}
      """;

  @TempDir private Path directory;

  /** JSON is YAML: what is told can be read again, and says the same. */
  @Test
  void whatIsToldReadsAsTheConfigurationThatItTells() throws IOException {
    SluiceConfig whole = read(ConfigText.WHOLE);
    String told =
        json(whole, whole.memoryBudgetBytes().getAsLong())
            .replaceFirst("\"api-key-env\":\"\\*\\*\\*\"", "\"api-key-env\":SMALL_API_KEY")
            .replace("\"admin-token-env\":\"***\"", "\"admin-token-env\":ADMIN_TOKEN");

    assertThat(read(withoutNulls(told))).isEqualTo(whole);
  }

  @Test
  void whatTheFileDoesNotSayIsToldWithItsDefault() throws IOException {
    SluiceConfig least = read(LEAST);
    String told = json(least, 64 << 20);
    SluiceConfig again = read(withoutNulls(told));

    assertThat(again.memoryBudgetBytes()).isEqualTo(OptionalLong.of(64 << 20));
    assertThat(again.limits()).isEqualTo(least.limits());
    assertThat(again.models()).isEqualTo(least.models());
    assertThat(again.plans()).isEqualTo(least.plans());
    assertThat(again.operations()).isEqualTo(least.operations());
    assertThat(told)
        .contains("\"memory-budget\":\"64MiB\"", "\"max-connections\":10000", "\"sse-ping\":null")
        .contains("\"balance\":\"least-exchanges\"", "\"attempts\":2", "\"probe\":null")
        .contains("\"streams-per-key\":null", "\"first-byte\":\"5m\"", "\"total\":null");
  }

  @Test
  void noSecretIsTold() throws IOException {
    SluiceConfig whole = read(ConfigText.WHOLE);
    for (String secret : ConfigText.ENVIRONMENT.values()) {
      if (!secret.isEmpty()) {
        assertThat(json(whole, 1)).doesNotContain(secret.strip());
      }
    }
    assertThat(json(whole, 1)).contains("\"api-key-env\":\"***\"", "\"api-key-env\":null");
  }

  @Test
  void everyNameOfTheFileIsThere() throws IOException {
    String told = json(read(ConfigText.WHOLE), 1);
    for (String line : ConfigText.WHOLE.lines().toList()) {
      String name = line.replaceAll("^[ -]*|:( .*)?$", "");
      assertThat(told).contains('"' + name + '"' + ':');
    }
  }

  private SluiceConfig read(String text) {
    return ConfigText.good(ConfigText.read(directory, text.getBytes(UTF_8)));
  }

  private static String json(SluiceConfig config, long memoryBudgetBytes) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      ConfigJson.write(json, config, memoryBudgetBytes);
    }
    return text.toString();
  }

  private static String withoutNulls(String json) {
    String text = json;
    for (String name :
        List.of(
            "tracing",
            "status",
            "sse-ping",
            "admin-token-env",
            "api-key-env",
            "total",
            "probe",
            "streams-per-key")) {
      text = text.replace("\"" + name + "\":null,", "").replace(",\"" + name + "\":null", "");
    }
    return text;
  }
}
