package dev.sluice.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.KeyHash;
import dev.sluice.lifecycle.ConfigFiles;
import dev.sluice.lifecycle.GoodFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The commands as they are typed: what is printed where, and the exit code. */
final class CommandLineTest {
  private static final Instant STARTED = Instant.parse("2026-05-04T03:02:01Z");
  private static final Pattern KEY = Pattern.compile("(?m)^sk-[A-Za-z0-9_-]{32}$");
  private static final String CONFIG =
      """
      keys: keys.yaml
      plans:
        pro: {streams: 100, models: ["*"]}
      models:
        big: {upstreams: [{url: "http://10.0.0.8:8000", api-key-env: BIG_KEY}]}
      """;
  private static final String KEYS = "subscriptions:\n  acme: {plan: pro}\nkeys:\n";

  @TempDir private Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Map<String, String> environment = new HashMap<>(Map.of("BIG_KEY", "up-secret"));
  private final Started started = new Started();
  private byte[] in = {};

  /** Notes what it was asked to start. */
  private static final class Started implements Start {
    private final List<String> calls = new ArrayList<>();
    private int exitCode;

    @Override
    public void prepare() {}

    @Override
    public int serve(ConfigFiles files, GoodFiles read) {
      calls.add("serve " + read.config().models().get(0).created() + " " + read.keys().keyCount());
      return exitCode;
    }

    @Override
    public int demo(int port, int adminPort, PrintWriter out) throws IOException {
      if (port == 1) {
        throw new IOException("port 1 is in use");
      }
      calls.add("demo " + port + " " + adminPort);
      return exitCode;
    }

    @Override
    public int demoUpstream(int port, PrintWriter out) {
      calls.add("demo-upstream " + port);
      return exitCode;
    }
  }

  @BeforeEach
  void writeGoodFiles() throws IOException {
    Files.writeString(directory.resolve("sluice.yaml"), CONFIG);
    Files.writeString(directory.resolve("keys.yaml"), KEYS.replace("keys:", "keys: []"));
  }

  @Test
  void noCommandIsAFaultInTheUsage() {
    assertThat(run()).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString())
        .startsWith("command: none (expected: one of demo, demo-upstream, serve, check, key)")
        .contains("Usage: sluice");
  }

  @Test
  void keyWithoutACommandIsAFaultInTheUsage() {
    assertThat(run("key")).isEqualTo(2);
    assertThat(err.toString()).startsWith("command: none (expected: one of new, hash)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "demo", "demo-upstream", "serve", "check", "key", "key new", "key hash"})
  void everyCommandHasHelpAndAVersion(String command) {
    assertThat(run((command + " --help").strip().split(" "))).isZero();
    assertThat(out.toString())
        .startsWith(("Usage: sluice " + command).strip())
        .contains("Exit codes");
    assertThat(run((command + " --version").strip().split(" "))).isZero();
    assertThat(out.toString()).contains("\nsluice ");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void anUnknownCommandIsAFaultInTheUsage() {
    assertThat(run("server")).isEqualTo(2);
    assertThat(err.toString()).contains("sluice serve");
  }

  @Test
  void anUnknownOptionIsAFaultInTheUsage() {
    assertThat(run("check", "--conf", "x")).isEqualTo(2);
    assertThat(err.toString()).contains("--conf");
  }

  @ParameterizedTest
  @ValueSource(strings = {"serve", "check"})
  void aCommandWithoutItsFileIsAFaultInTheUsage(String command) {
    assertThat(run(command)).isEqualTo(2);
    assertThat(err.toString()).startsWith("Missing required option: '--config=FILE'");
  }

  @Test
  void checkSaysOkAndCounts() {
    assertThat(run("check", "--config", config())).isZero();
    assertThat(out.toString())
        .isEqualToNormalizingNewlines(
            config() + ": ok (plans: 1, models: 1, operations: 2, subscriptions: 1, keys: 0)\n");
    assertThat(err.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"serve", "check"})
  void everyFaultOfBothFilesIsToldAtOnce(String command) throws IOException {
    environment.clear();
    Files.writeString(directory.resolve("sluice.yaml"), CONFIG.replace("100", "0"));
    Files.writeString(directory.resolve("keys.yaml"), "subscriptions:\n  acme: {plan: por}\n");
    assertThat(run(command, "--config", config())).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString().lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith(config() + ":3: plans.pro.streams: 0 (expected: "),
            line -> assertThat(line).startsWith(config() + ":5: models.big.").contains("BIG_KEY"),
            line -> assertThat(line).startsWith(directory.resolve("keys.yaml") + ":1: keys: miss"),
            line ->
                assertThat(line)
                    .endsWith(
                        ":2: subscriptions.acme.plan: por (expected: one of pro; did you mean pro?)"));
    assertThat(started.calls).isEmpty();
  }

  @Test
  void aFaultOfTheKeysFileAloneIsOne() throws IOException {
    Files.delete(directory.resolve("keys.yaml"));
    assertThat(run("check", "--config", config())).isEqualTo(2);
    assertThat(err.toString()).contains("keys.yaml: no such file (expected: a readable file)");
  }

  @Test
  void aMissingConfigurationIsAFault() {
    assertThat(run("check", "--config", config() + "x")).isEqualTo(2);
    assertThat(err.toString()).contains("sluice.yamlx: no such file (expected: a readable file)");
  }

  @Test
  void serveStartsWithGoodFilesAndGivesItsExitCode() {
    assertThat(run("serve", "--config", config())).isZero();
    started.exitCode = 1;
    assertThat(run("serve", "--config", config())).isEqualTo(1);
    assertThat(started.calls).hasSize(2).containsOnly("serve 2026-05-04T03:02:01Z 0");
  }

  @Test
  void demoHasDefaultPortsAndTakesOthers() {
    assertThat(run("demo")).isZero();
    assertThat(run("demo", "--port", "0", "--admin-port=0")).isZero();
    assertThat(started.calls).containsExactly("demo 8080 9901", "demo 0 0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"--port=65536", "--port=-1", "--port=x", "--port=9901", "--admin-port=1e3"})
  void demoRefusesWhatIsNoPort(String option) {
    assertThat(run("demo", option)).isEqualTo(2);
    assertThat(started.calls).isEmpty();
  }

  @Test
  void theDemosUpstreamHasADefaultPortAndTakesAnother() {
    assertThat(run("demo-upstream")).isZero();
    assertThat(run("demo-upstream", "--port=0")).isZero();
    assertThat(run("demo-upstream", "--port=65536")).isEqualTo(2);
    assertThat(started.calls).containsExactly("demo-upstream 8000", "demo-upstream 0");
  }

  @Test
  void aFailureIsToldInOneLineAndIsOne() {
    assertThat(run("demo", "--port=1")).isEqualTo(1);
    assertThat(err.toString()).isEqualToNormalizingNewlines("sluice: port 1 is in use\n");
  }

  @Test
  void aNewKeyWorksWithTheEntryThatIsPrintedWithIt() throws IOException {
    assertThat(run("key", "new", "--name", "it's \"x\" \\ {y}: #1", "--subscription", "acme"))
        .isZero();
    String printed = out.toString();
    Matcher key = KEY.matcher(printed);
    assertThat(key.find()).isTrue();
    String entry =
        printed.lines().filter(line -> line.startsWith("  - ")).findFirst().orElseThrow();
    assertThat(entry)
        .contains(KeyHash.of(key.group().getBytes(US_ASCII)).toHex())
        .doesNotContain(key.group());
    Files.writeString(directory.resolve("keys.yaml"), KEYS + entry + "\n");
    assertThat(run("check", "--config", config())).isZero();
    assertThat(out.toString()).contains("subscriptions: 1, keys: 1)");
  }

  @Test
  void newKeysDiffer() {
    Set<String> keys = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      run("key", "new", "--name", "n", "--subscription", "s");
    }
    Matcher key = KEY.matcher(out.toString());
    while (key.find()) {
      keys.add(key.group());
    }
    assertThat(keys).hasSize(50);
  }

  @Test
  void aKeyNeedsNamesThatTheFileCanHave() {
    assertThat(run("key", "new", "--name", "a\nb", "--subscription", "s")).isEqualTo(2);
    assertThat(run("key", "new", "--name", "a", "--subscription", " ")).isEqualTo(2);
    assertThat(run("key", "new", "--name", "a")).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sk-one", "sk-one\n", "sk-one\r\n"})
  void aKeyIsHashedWithoutItsLineEnd(String text) {
    in = text.getBytes(UTF_8);
    assertThat(run("key", "hash")).isZero();
    assertThat(out.toString().strip()).isEqualTo(KeyHash.of("sk-one".getBytes(UTF_8)).toHex());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "\n", "\r\n", "sk-one\n\n", "sk-one\nsk-two", "sk-one\nsk-two\n", "sk one", " sk-one",
        "sk-one\t", "sk-önе", "sk-one\r", "Bearer sk-one", "\"sk-one\"", "sk=one", "=", "\u0000"
      })
  void whatIsNoKeyIsRefusedAndNotRepeated(String text) {
    in = text.getBytes(UTF_8);
    assertThat(run("key", "hash")).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).startsWith("standard input: ").doesNotContain("one\n", "sk");
  }

  @Test
  void theLongestKeyIsHashedAndALongerOneRefused() {
    in = ("k".repeat(512) + "\r\n").getBytes(UTF_8);
    assertThat(run("key", "hash")).isZero();
    in = ("k".repeat(513) + "\r\n").getBytes(UTF_8);
    assertThat(run("key", "hash")).isEqualTo(2);
    in = ("k".repeat(5_000_000) + "\n").getBytes(UTF_8);
    assertThat(run("key", "hash")).isEqualTo(2);
  }

  private String config() {
    return directory.resolve("sluice.yaml").toString();
  }

  private int run(String... arguments) {
    CommandLine commands =
        Sluice.commandLine(environment, new ByteArrayInputStream(in), STARTED, started);
    commands.setOut(new PrintWriter(out, true));
    commands.setErr(new PrintWriter(err, true));
    List<String> given = new ArrayList<>(List.of(arguments));
    given.remove("");
    return commands.execute(given.toArray(new String[0]));
  }
}
