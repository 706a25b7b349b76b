package dev.sluice.deploy;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lifecycle.ConfigFiles;
import dev.sluice.telemetry.Meters;
import dev.sluice.testing.Json;
import dev.sluice.yaml.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files under {@code deploy} name only what there is, and their times fit one another. */
class DeployFilesTest {
  private static final Path DEPLOY = Path.of("../deploy");
  private static final Pattern METER = Pattern.compile("\\b(sluice|gen_ai_client)_[a-z_]+");

  /** What a process may take beyond its grace period: last words, and the access log. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  private static String text(String file) throws IOException {
    return Files.readString(DEPLOY.resolve(file));
  }

  private static String first(String regex, String text) {
    Matcher matcher = Pattern.compile(regex, Pattern.MULTILINE).matcher(text);
    assertThat(matcher.find()).as(regex).isTrue();
    return matcher.group(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "prometheus/sluice-rules.yaml",
        "prometheus/sluice-rules-test.yaml",
        "grafana/sluice-dashboard.json"
      })
  void everyMeterIsOne(String file) throws IOException {
    Set<String> known = Arrays.stream(Meters.values()).map(Meters::prometheusName).collect(toSet());
    Set<String> named = new TreeSet<>();
    Matcher meter = METER.matcher(text(file));
    while (meter.find()) {
      named.add(meter.group().replaceAll("_(bucket|sum)$", ""));
    }

    assertThat(named).isNotEmpty().isSubsetOf(known);
  }

  @Test
  void everyRuleNamesARowOfTheReadmeAsItsRunbook() throws IOException {
    String readme = Files.readString(DEPLOY.resolve("../README.md"));
    String section = readme.substring(readme.indexOf("\n## When something fails\n"));
    String rules = text("prometheus/sluice-rules.yaml");
    Matcher runbook = Pattern.compile(" runbook: (.*)").matcher(rules);
    int count = 0;
    for (; runbook.find(); count++) {
      assertThat(section).contains("\n| " + runbook.group(1) + " |");
    }

    assertThat(count).isPositive().isEqualTo(rules.split("- alert:", -1).length - 1);
  }

  @Test
  void everyRuleIsTested() throws IOException {
    String tests = text("prometheus/sluice-rules-test.yaml");
    Matcher alert = Pattern.compile("- alert: (.*)").matcher(text("prometheus/sluice-rules.yaml"));
    while (alert.find()) {
      assertThat(tests).contains("- alertname: " + alert.group(1) + "\n");
    }
  }

  @Test
  void panelsHaveNumbersOfTheirOwnAndSayWhatTheyShow() throws IOException {
    List<Map<String, Object>> panels =
        Json.objects(Json.object(text("grafana/sluice-dashboard.json")), "panels");

    assertThat(panels).extracting(panel -> panel.get("id")).doesNotHaveDuplicates();
    assertThat(panels)
        .filteredOn(panel -> !"row".equals(panel.get("type")))
        .allSatisfy(panel -> assertThat((String) panel.get("description")).isNotBlank());
  }

  @ParameterizedTest
  @ValueSource(strings = {"compose/sluice", "kubernetes/base", "kubernetes/overlays/example"})
  void theConfigurationsAreWithoutFault(String directory) {
    ConfigFiles files =
        new ConfigFiles(
            DEPLOY.resolve(directory).resolve("sluice.yaml"),
            Map.of("SLUICE_ADMIN_TOKEN", "token", "SMALL_API_KEY", "key"),
            Instant.EPOCH);

    assertThat(files.read()).isInstanceOf(Reading.Good.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"base", "overlays/example"})
  void aPodHasTimeForItsDrain(String directory) throws IOException {
    String pod = text("kubernetes/base/deployment.yaml");
    Duration termination =
        Duration.ofSeconds(Long.parseLong(first("terminationGracePeriodSeconds: (\\d+)", pod)));
    Duration before =
        Duration.ofSeconds(Long.parseLong(first("command: \\[drain, \"(\\d+)\"\\]", pod)));
    String config = text("kubernetes/" + directory + "/sluice.yaml");
    Duration grace = Duration.ofMinutes(Long.parseLong(first("^shutdown-grace: (\\d+)m", config)));

    assertThat(termination).isGreaterThan(before.plus(grace).plus(LAST_WORDS));
  }

  @Test
  void systemdAndComposeWaitForTheDefaultGrace() throws IOException {
    String readme = Files.readString(DEPLOY.resolve("../README.md"));
    long grace = Long.parseLong(first("^\\| `shutdown-grace` \\| `(\\d+)s` ", readme));
    String unit = first("^TimeoutStopSec=(\\d+)s", text("systemd/sluice.service"));
    String compose = first("^ +stop_grace_period: (\\d+)s", text("compose.yaml"));

    assertThat(List.of(unit, compose))
        .allSatisfy(
            bound ->
                assertThat(Long.parseLong(bound)).isGreaterThan(grace + LAST_WORDS.toSeconds()));
  }
}
