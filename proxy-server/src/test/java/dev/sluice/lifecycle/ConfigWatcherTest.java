package dev.sluice.lifecycle;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import dev.sluice.config.SluiceConfig;
import dev.sluice.keys.FileKeyDirectory;
import dev.sluice.keys.KeysWatcher;
import dev.sluice.testing.Json;
import dev.sluice.yaml.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** How changes of both files are noticed, and taken together or refused. */
final class ConfigWatcherTest {
  private static final Instant OLD = Instant.parse("2026-01-01T00:00:00Z");
  private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("dev.sluice");
  private static final KeyHash KEY = KeyHash.of("sk-one".getBytes(UTF_8));
  private static final String CONFIG =
      """
      listen: 127.0.0.1:8080
      keys: keys.yaml
      plans:
        pro: {streams: 5, models: ["*"]}
      models:
        small: {upstreams: [{url: "http://10.0.0.7", api-key-env: SMALL_KEY}]}
      admin-token-env: TOKEN
      """;
  private static final String KEYS =
      """
      subscriptions:
        acme: {plan: pro}
      keys:
        - {name: one, sha256: "%s", subscription: acme, revoked: false}
      """
          .formatted(KEY.toHex());

  @TempDir private Path directory;
  private final List<String> taken = new ArrayList<>();
  private final List<KeysWatcher.Result> keysReloads = new ArrayList<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private Instant now = OLD.plusSeconds(3600);
  private Instant modified = OLD;
  private FileKeyDirectory keys;
  private ConfigWatcher watcher;
  private @Nullable RuntimeException fault;

  @BeforeEach
  void watchGoodFiles() throws IOException {
    write("sluice.yaml", CONFIG);
    write("keys.yaml", KEYS);
    ConfigFiles files =
        new ConfigFiles(
            directory.resolve("sluice.yaml"),
            Map.of("SMALL_KEY", "up-secret", "TOKEN", "operators-only"),
            OLD);
    if (!(files.read() instanceof Reading.Good<GoodFiles> good)) {
      throw new AssertionError(files.read());
    }
    keys = new FileKeyDirectory(good.value().keys());
    watcher =
        new ConfigWatcher(
            files,
            good.value(),
            keys,
            () -> now,
            reload -> keysReloads.add(reload.result()),
            new Recording());
    polls(2);
    log.start();
    LOGGER.addAppender(log);
    LOGGER.setAdditive(false);
  }

  @AfterEach
  void endTheLog() {
    LOGGER.detachAppender(log);
    LOGGER.setAdditive(true);
  }

  private final class Recording implements ConfigWatcher.Listener {
    private final Semaphore told = new Semaphore(0);

    @Override
    public void take(SluiceConfig config, Runnable keysToo) {
      if (fault != null) {
        throw fault;
      }
      String plan = planOfKey();
      keysToo.run();
      taken.add(config.plans().keySet() + " key " + plan + " -> " + planOfKey());
    }

    @Override
    public void reloaded(KeysWatcher.Reload reload) {
      if (reload.result() == KeysWatcher.Result.REFUSED) {
        taken.add("refused");
      }
      told.release();
    }
  }

  private void write(String name, String text) throws IOException {
    Path file = Files.writeString(directory.resolve(name), text);
    modified = modified.plusSeconds(1);
    Files.setLastModifiedTime(file, FileTime.from(modified));
  }

  private void polls(int times) {
    for (int i = 0; i < times; i++) {
      watcher.poll();
    }
  }

  private Key key() {
    return keys.find(KEY).toCompletableFuture().join().orElseThrow();
  }

  private String planOfKey() {
    return key().subscription().plan();
  }

  private List<String> logged() {
    return log.list.stream()
        // Not of the thread of another test, which may still be at its end.
        .filter(event -> event.getThreadName().equals(Thread.currentThread().getName()))
        .map(ILoggingEvent::getFormattedMessage)
        .map(line -> line.replace(directory + "/", ""))
        .toList();
  }

  private Map<String, Object> told() {
    return Json.object(watcher.json(64 << 20));
  }

  @Test
  void filesThatDoNotChangeAreLeftAlone() throws IOException {
    polls(5);
    write("sluice.yaml", CONFIG);
    polls(5);
    assertThat(taken).isEmpty();
    assertThat(logged()).isEmpty();
    assertThat(told()).containsEntry("version", 1);
  }

  @Test
  void aNewVersionIsTakenAtTheSecondPollWithItsDifference() throws IOException {
    write("sluice.yaml", CONFIG.replace("streams: 5", "streams: 6"));
    polls(1);
    assertThat(taken).isEmpty();
    now = now.plusSeconds(60);
    polls(5);
    assertThat(taken).containsExactly("[pro] key pro -> pro");
    assertThat(keysReloads).isEmpty();
    assertThat(logged()).containsExactly("sluice.yaml: new version taken: plans changed: pro");
    assertThat(watcher.loadedAt()).isEqualTo(now);
    assertThat(told())
        .containsEntry("version", 2)
        .containsEntry("loaded_at", "2026-01-01T01:01:00Z");
  }

  @Test
  void aBrokenVersionIsRefusedOnceAndNothingChanges() throws IOException {
    write("sluice.yaml", CONFIG.replace("streams: 5", "streams: 0").replace("small", "unknown"));
    polls(10);
    assertThat(taken).containsExactly("refused");
    assertThat(logged())
        .satisfiesExactly(
            line -> assertThat(line).endsWith("refused, the one before stays in effect; faults: 2"),
            line -> assertThat(line).startsWith("sluice.yaml:4: plans.pro.streams: 0 "),
            line -> assertThat(line).startsWith("sluice.yaml:6: models: unknown "));
    assertThat(told()).containsEntry("version", 1);
  }

  @Test
  void whatCannotChangeWhileItRunsIsRefusedWithItsPlace() throws IOException {
    write("sluice.yaml", CONFIG.replace("8080", "9090"));
    polls(2);
    assertThat(logged())
        .last()
        .isEqualTo(
            "sluice.yaml:1: listen: 127.0.0.1:9090 (expected: 127.0.0.1:8080 until a restart)");
  }

  @Test
  void aRevocationTakesEffectThoughTheConfigurationIsBrokenOrGone() throws IOException {
    write("sluice.yaml", "{");
    polls(3);
    write("keys.yaml", KEYS.replace("revoked: false", "revoked: true"));
    polls(2);
    assertThat(key().revoked()).isTrue();
    Files.delete(directory.resolve("sluice.yaml"));
    polls(3);
    write("keys.yaml", KEYS);
    polls(2);
    assertThat(key().revoked()).isFalse();
    assertThat(taken).containsExactly("refused", "refused");
    assertThat(keysReloads).containsExactly(KeysWatcher.Result.OK, KeysWatcher.Result.OK);
  }

  @Test
  void aRevocationTakesEffectThoughWhatTakesVersionsFails() throws IOException {
    fault = new IllegalStateException("thrown on purpose");
    write("sluice.yaml", CONFIG + "revoke: cut\n");
    write("keys.yaml", KEYS.replace("revoked: false", "revoked: true"));
    polls(2);
    assertThat(key().revoked()).isTrue();
    assertThat(logged()).first().asString().endsWith("the watch failed and goes on");
    fault = null;
    write("sluice.yaml", CONFIG + "sse-ping: 1s\n");
    polls(2);
    assertThat(taken).hasSize(1);
  }

  @Test
  void aVersionThatIsTakenBackIsSaidToBeFine() throws IOException {
    write("sluice.yaml", "{");
    polls(4);
    assertThat(Json.object(told(), "last_read")).containsEntry("result", "refused");
    write("sluice.yaml", CONFIG);
    polls(4);
    assertThat(logged()).last().isEqualTo("sluice.yaml: is again the version that is in effect");
    assertThat(Json.object(told(), "last_read")).containsEntry("result", "ok");
    write("sluice.yaml", "{");
    polls(4);
    assertThat(taken).containsExactly("refused", "refused");
  }

  @Test
  void aPlanThatIsRenamedWithItsKeysIsTakenWithThem() throws IOException {
    write("sluice.yaml", CONFIG.replace("pro:", "team:"));
    write("keys.yaml", KEYS.replace("plan: pro", "plan: team"));
    polls(4);
    assertThat(taken).containsExactly("[team] key pro -> team");
    assertThat(keysReloads).containsExactly(KeysWatcher.Result.OK);
    assertThat(logged())
        .containsExactly(
            "keys.yaml: new version taken, 1 keys of 1 subscriptions",
            "sluice.yaml: new version taken: plans added: team; plans removed: pro");
  }

  @Test
  void aConfigurationThatWaitsForItsKeysIsTakenWhenTheyFollow() throws IOException {
    write("sluice.yaml", CONFIG.replace("pro:", "team:"));
    polls(6);
    assertThat(taken).containsExactly("refused");
    assertThat(logged()).last().asString().startsWith("keys.yaml:2: subscriptions.acme.plan: pro ");
    write("keys.yaml", KEYS.replace("plan: pro", "plan: team"));
    polls(2);
    assertThat(taken).containsExactly("refused", "[team] key pro -> team");
    assertThat(keysReloads).containsExactly(KeysWatcher.Result.OK);
  }

  @Test
  void keysThatWaitForTheirConfigurationAreTakenWhenItFollows() throws IOException {
    write("keys.yaml", KEYS.replace("plan: pro", "plan: team"));
    polls(4);
    assertThat(keysReloads).containsExactly(KeysWatcher.Result.REFUSED);
    write("sluice.yaml", CONFIG.replace("pro:", "team:"));
    polls(2);
    assertThat(taken).containsExactly("[team] key pro -> team");
    assertThat(keysReloads).containsExactly(KeysWatcher.Result.REFUSED, KeysWatcher.Result.OK);
    polls(4);
    assertThat(keysReloads).hasSize(2);
  }

  @Test
  void aConfigurationThatWaitsForItsKeysIsTakenWhenTheyAreTakenBack() throws IOException {
    write("sluice.yaml", CONFIG.replace("streams: 5", "streams: 6"));
    write("keys.yaml", KEYS.replace("plan: pro", "plan: por"));
    polls(4);
    assertThat(taken).containsExactly("refused");
    write("keys.yaml", KEYS);
    polls(2);
    assertThat(taken).containsExactly("refused", "[pro] key pro -> pro");
  }

  @Test
  void anotherKeysFileIsTakenWhenItIsThere() throws IOException {
    write("sluice.yaml", CONFIG.replace("keys.yaml", "other.yaml"));
    polls(4);
    assertThat(taken).containsExactly("refused");
    assertThat(logged()).last().asString().startsWith("other.yaml: no such file ");
    write("other.yaml", KEYS.replace("revoked: false", "revoked: true"));
    polls(2);
    assertThat(key().revoked()).isTrue();
    write("keys.yaml", KEYS + "# more\n");
    write("other.yaml", KEYS);
    polls(2);
    assertThat(key().revoked()).isFalse();
    assertThat(keysReloads).hasSize(2);
  }

  @Test
  void keysAreCheckedAgainstThePlansThatAreInEffect() throws IOException {
    write("sluice.yaml", CONFIG.replace("plans:", "plans:\n  free: {streams: 1, models: [small]}"));
    polls(2);
    write("keys.yaml", KEYS.replace("plan: pro", "plan: free"));
    polls(2);
    assertThat(planOfKey()).isEqualTo("free");
    write("sluice.yaml", CONFIG);
    polls(2);
    assertThat(taken).hasSize(2).last().isEqualTo("refused");
    assertThat(planOfKey()).isEqualTo("free");
  }

  @Test
  void otherFaultsOfTheSameVersionAreTold() throws IOException {
    write("sluice.yaml", CONFIG.replace("pro:", "team:"));
    polls(4);
    write("keys.yaml", KEYS.replace("plan: pro", "plan: tame"));
    polls(4);
    assertThat(taken).containsExactly("refused", "refused");
  }

  @Test
  void whoAsksGetsBothFilesReadAtOnceThoughNothingChanged() {
    watcher.reload();
    assertThat(taken).containsExactly("[pro] key pro -> pro");
    assertThat(logged())
        .containsExactly(
            "sluice.yaml: is read again, as SIGHUP asks",
            "sluice.yaml: new version taken: nothing differs");
    assertThat(keysReloads).isEmpty();
    polls(4);
    assertThat(taken).hasSize(1);
  }

  @Test
  void whoAsksIsToldEachTimeAndGetsTheKeysAllTheSame() throws IOException {
    write("sluice.yaml", "{");
    write("keys.yaml", KEYS.replace("revoked: false", "revoked: true"));
    watcher.reload();
    watcher.reload();
    polls(4);
    assertThat(taken).containsExactly("refused", "refused");
    assertThat(key().revoked()).isTrue();
    assertThat(keysReloads).containsExactly(KeysWatcher.Result.OK);
  }

  @Test
  void operatorsAreToldWhatIsInEffectAndWhatIsWrongWithoutSecrets() throws IOException {
    write("sluice.yaml", CONFIG.replace("streams: 5", "streams: 0"));
    polls(2);
    String json = watcher.json(64 << 20);
    assertThat(json).doesNotContain("up-secret", "operators-only");
    Map<String, Object> told = told();
    assertThat(told).containsEntry("file", directory.resolve("sluice.yaml").toString());
    Map<String, Object> read = Json.object(told, "last_read");
    assertThat(read).containsEntry("result", "refused").containsEntry("fault_count", 1);
    assertThat(String.valueOf(read.get("faults"))).contains("sluice.yaml:4: plans.pro.streams: 0 ");
    Map<String, Object> config = Json.object(told, "config");
    assertThat(Json.object(Json.object(config, "plans"), "pro")).containsEntry("streams", 5);
    assertThat(Json.object(config, "limits")).containsEntry("memory-budget", "64MiB");
    assertThat(config).containsEntry("admin-token-env", "***");
  }

  @Test
  void countlessFaultsAreToldWithTheFirstOfThem() throws IOException {
    write("sluice.yaml", CONFIG + many());
    polls(2);
    Map<String, Object> read = Json.object(told(), "last_read");
    assertThat(read).containsEntry("fault_count", 200);
    assertThat((List<?>) read.get("faults")).hasSize(50);
    assertThat(logged()).hasSize(51);
  }

  private static String many() {
    StringBuilder names = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      names.append("x").append(i).append(": 1\n");
    }
    return names.toString();
  }

  @Test
  void theRunningWatchTakesAChangeAndWhoAsksIsHeard() throws Exception {
    Recording recording = new Recording();
    ConfigFiles files =
        new ConfigFiles(
            directory.resolve("sluice.yaml"), Map.of("SMALL_KEY", "a", "TOKEN", "b"), OLD);
    GoodFiles good = ((Reading.Good<GoodFiles>) files.read()).value();
    try (ConfigWatcher running =
        new ConfigWatcher(
            files,
            good,
            keys,
            Instant::now,
            reload -> keysReloads.add(reload.result()),
            recording)) {
      running.start();
      Files.writeString(directory.resolve("sluice.yaml"), CONFIG + "revoke: cut\n");
      assertThat(recording.told.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
      running.reloadSoon();
      assertThat(recording.told.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    }
  }
}
