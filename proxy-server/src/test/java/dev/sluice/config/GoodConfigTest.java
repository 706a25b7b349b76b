package dev.sluice.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.Plan;
import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Probe;
import dev.sluice.cluster.Timeouts;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Dialect;
import dev.sluice.message.Operation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a configuration without faults comes to. */
final class GoodConfigTest {
  private static final String LEAST =
      """
      keys: keys.yaml
      plans: {one: {streams: 1, models: ["*"]}}
      models: {m: {upstreams: [{url: "http://h"}]}}
      """;

  @TempDir private Path directory;

  @Test
  void everyNameIsRead() {
    SluiceConfig config = read(ConfigText.WHOLE);
    assertThat(config.listen()).isEqualTo(new ListenAddress("10.1.2.3", 8081));
    assertThat(config.admin()).isEqualTo(new ListenAddress("::1", 9902));
    assertThat(config.status()).isEqualTo(new ListenAddress("0.0.0.0", 8082));
    assertThat(config.accessLog())
        .isEqualTo(new AccessLog(AccessLog.Sink.FILE, directory.resolve("logs/access.log")));
    HttpLimits limits = HttpLimits.DEFAULT;
    assertThat(config.limits())
        .isEqualTo(
            new HttpLimits(
                limits.maxRequestLineBytes(),
                limits.maxHeaderBytes(),
                limits.maxHeaderCount(),
                512 * 1024,
                50,
                60,
                Duration.ofSeconds(2),
                Duration.ofMinutes(1),
                limits.keepAliveTimeout()));
    assertThat(config.keysFile()).isEqualTo(directory.resolve("secrets/keys.yaml"));
    assertThat(config.plans().values())
        .containsExactly(
            new Plan("free", 2, Plan.UNBOUNDED, Set.of("small"), false),
            new Plan("pro", 100, 10, Set.of(), true));
    assertThat(config.plans()).containsOnlyKeys("free", "pro");
    assertThat(config.models())
        .containsExactly(
            new Model(
                "small",
                "llama-3.1-8b",
                List.of(
                    new Endpoint("10.0.0.7", 8000, true, "", "up-secret-1", 3),
                    new Endpoint("fd00::7", 80, false, "/base", null)),
                new Timeouts(
                    Duration.ofSeconds(1),
                    Duration.ofMinutes(2),
                    Duration.ofMillis(500),
                    Duration.ofHours(2)),
                Balance.PREFIX_AFFINITY,
                3,
                new Probe("/healthz?full=1", Duration.ofSeconds(1), Duration.ofMillis(300), 1, 4),
                "acme",
                ConfigText.CREATED),
            new Model(
                "openai/gpt-oss-120b",
                null,
                List.of(new Endpoint("big.example", 80, false, "", null)),
                Timeouts.DEFAULT,
                Balance.LEAST_EXCHANGES,
                2,
                null,
                "sluice",
                ConfigText.CREATED));
    assertThat(config.operations())
        .containsExactly(
            Operation.CHAT_COMPLETIONS,
            Operation.MESSAGES,
            new Operation("embeddings", "/v1/embeddings", Dialect.OTHER, false),
            new Operation("chat_special_v2", "/v1/chat/special.v2", Dialect.OTHER, true));
    assertThat(config.memoryBudgetBytes()).hasValue(3L << 30);
    assertThat(config.ssePing()).isEqualTo(Duration.ofSeconds(15));
    assertThat(config.revoke()).isEqualTo(Revoke.CUT);
    assertThat(config.adminToken()).isEqualTo("operators-only");
    assertThat(config.shutdownGrace()).isEqualTo(Duration.ofHours(1));
    assertThat(config.tracing())
        .isEqualTo(new Tracing(new Endpoint("collector.example", 443, true, "/otlp", null), 0.25));
  }

  @Test
  void whatIsNotSaidHasTheseDefaults() {
    SluiceConfig config = read(LEAST);
    assertThat(config.listen()).hasToString("0.0.0.0:8080");
    assertThat(config.admin()).hasToString("127.0.0.1:9901");
    assertThat(config.status()).isNull();
    assertThat(config.accessLog()).isEqualTo(AccessLog.STDOUT);
    assertThat(config.limits())
        .isEqualTo(
            new HttpLimits(
                8192,
                32_768,
                100,
                33_554_432,
                10_000,
                10_000,
                Duration.ofSeconds(10),
                Duration.ofSeconds(60),
                Duration.ofSeconds(75)));
    assertThat(config.memoryBudgetBytes()).isEmpty();
    assertThat(config.tracing()).isEqualTo(Tracing.NONE);
    assertThat(config.ssePing()).isZero();
    assertThat(config.revoke()).isEqualTo(Revoke.FINISH);
    assertThat(config.adminToken()).isNull();
    assertThat(config.shutdownGrace()).isEqualTo(Duration.ofSeconds(30));
    assertThat(config.operations()).isEqualTo(Operation.BUILT_IN);
    assertThat(config.plans().values())
        .containsExactly(new Plan("one", 1, Integer.MAX_VALUE, Set.of(), true));
    assertThat(config.models())
        .containsExactly(
            new Model(
                "m",
                null,
                List.of(new Endpoint("h", 80, false, "", null)),
                new Timeouts(
                    Duration.ofSeconds(5), Duration.ofMinutes(5), Duration.ofMinutes(5), null),
                Balance.LEAST_EXCHANGES,
                2,
                null,
                "sluice",
                ConfigText.CREATED));
  }

  @ParameterizedTest
  @CsvSource({
    "1B, 1",
    "1024B, 1024",
    "1kB, 1000",
    "1KiB, 1024",
    "3MB, 3000000",
    "3MiB, 3145728",
    "1GB, 1000000000",
    "1GiB, 1073741824"
  })
  void aSizeHasAUnit(String size, int bytes) {
    assertThat(read(LEAST + "limits: {max-body-bytes: " + size + "}").limits().maxBodyBytes())
        .isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource({"1ms, PT0.001S", "10s, PT10S", "2m, PT2M", "24h, PT24H", "86400000ms, PT24H"})
  void aDurationHasAUnit(String text, Duration duration) {
    assertThat(read(LEAST + "limits: {head-timeout: " + text + "}").limits().headTimeout())
        .isEqualTo(duration);
  }

  @Test
  void noGraceAtAllCanBeGiven() {
    assertThat(read(LEAST + "shutdown-grace: 0s").shutdownGrace()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "http://h, http://h",
    "HTTPS://H, https://H",
    "https://h:443, https://h",
    "https://h:80/, https://h:80",
    "http://h_1.example.:65535/a/b%20c, http://h_1.example.:65535/a/b%20c",
    "http://h/v1x, http://h/v1x",
    "http://192.0.2.1, http://192.0.2.1",
    "'http://[2001:db8::1]:8000/x', 'http://[2001:db8::1]:8000/x'",
    "'http://[::1]', 'http://[::1]'"
  })
  void anUpstreamIsAUrl(String url, String endpoint) {
    String text = LEAST.replace("http://h", url);
    assertThat(read(text).models().get(0).endpoints().get(0)).hasToString(endpoint);
  }

  @ParameterizedTest
  @CsvSource({"none, NONE", "stdout, STDOUT", "access.log, FILE", "/var/log/a, FILE"})
  void theAccessLogGoesSomewhere(String text, AccessLog.Sink sink) {
    assertThat(read(LEAST + "access-log: " + text).accessLog().sink()).isEqualTo(sink);
  }

  @Test
  void twoListenersMayBothHaveAnyFreePort() {
    SluiceConfig config = read(LEAST + "listen: 127.0.0.1:0\nadmin: localhost:0\n");
    assertThat(config.listen().port()).isEqualTo(config.admin().port()).isZero();
  }

  @Test
  void upstreamModelThatIsTheIdIsNone() {
    String text = LEAST.replace("{upstreams", "{upstream-model: m, upstreams");
    assertThat(read(text).models().get(0).upstreamModel()).isNull();
  }

  @Test
  void anAbsoluteKeysFileStaysWhereItIs() {
    assertThat(read(LEAST.replace("keys.yaml", "/etc/keys.yaml")).keysFile())
        .isEqualTo(Path.of("/etc/keys.yaml"));
  }

  @Test
  void modelsKeepTheOrderOfTheFile() {
    StringBuilder models = new StringBuilder("models:\n");
    for (int i = 99; i >= 0; i--) {
      models.append("  m").append(i).append(": {upstreams: [{url: \"http://h\"}]}\n");
    }
    String text = "keys: k\nplans: {one: {streams: 1, models: [m7]}}\n" + models;
    assertThat(read(text).models()).hasSize(100).first().extracting(Model::id).isEqualTo("m99");
  }

  private SluiceConfig read(String text) {
    return ConfigText.good(ConfigText.read(directory, text.getBytes(UTF_8)));
  }
}
