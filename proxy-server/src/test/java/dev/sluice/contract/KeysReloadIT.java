package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.sha256;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Metrics;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A change of the keys file takes effect for all callers before it is counted, and a broken one not
 * at all. Each test has a key and a subscription of its own, so that no test waits for the file of
 * another. That a change is seen within two seconds is held by {@code KeysWatcherTest}, in polls:
 * seconds of a busy machine would say nothing.
 */
class KeysReloadIT {
  private static final int OWN_KEYS = 8;

  /** The last good version that was written. */
  private static String current = withOwnKeys();

  @RegisterExtension static final Scene SCENE = new Scene().keys(current);

  private static int taken;

  private final String name = "own-" + taken++;
  private final String key = "sk-test-" + name;

  private static String withOwnKeys() {
    StringBuilder subscriptions = new StringBuilder();
    StringBuilder keys = new StringBuilder();
    for (int i = 0; i < OWN_KEYS; i++) {
      String own = "own-" + i;
      subscriptions.append("  ").append(own).append(": {plan: pro, active: true}\n");
      keys.append(entry(own));
    }
    return Scene.keysFile().replace("keys:\n", subscriptions + "keys:\n") + keys;
  }

  private static String entry(String name) {
    return "  - {name: %s, sha256: \"%s\", subscription: %s}\n"
        .formatted(name, sha256("sk-test-" + name), name);
  }

  /** Writes a good version, and waits until it is counted: from then on it holds. */
  private static void change(UnaryOperator<String> edit) throws IOException {
    current = edit.apply(current);
    awaitOneMore("ok", () -> write(current));
  }

  /** Does something to the file, and waits until it is counted as one more reload. */
  private static void awaitOneMore(String result, Change change) throws IOException {
    double before = reloads(SCENE.sluice().metrics(), result);
    change.make();
    SCENE
        .sluice()
        .awaitMetrics(
            "one more reload " + result, metrics -> reloads(metrics, result) == before + 1);
  }

  private static double reloads(Metrics metrics, String result) {
    return metrics.sum("sluice_keys_reload_total", "result=\"" + result + "\"");
  }

  @FunctionalInterface
  private interface Change {
    void make() throws IOException;
  }

  private static void write(String text) throws IOException {
    Path file = SCENE.sluice().keysFile();
    Path beside = file.resolveSibling("keys.new");
    Files.writeString(beside, text);
    Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private String revoked(String text) {
    String own = "subscription: " + name + "}";
    assertThat(text).contains(own);
    return text.replace(own, "subscription: " + name + ", revoked: true}");
  }

  private static int status(String key) {
    return SCENE.exchange(Request.get("/v1/models").key(key)).status();
  }

  @AfterEach
  void otherKeysAreNotTouched() {
    assertThat(status(FREE)).isEqualTo(200);
  }

  @Test
  void aRevocationTakesEffectOnOpenConnectionsToo() throws IOException {
    try (RawClient client = SCENE.client()) {
      Request request = Request.get("/v1/models").key(key);
      assertThat(client.exchange(request).status()).isEqualTo(200);
      change(this::revoked);

      assertError(client.exchange(request), 401);
    }
    assertThat(status(key)).isEqualTo(401);
  }

  @Test
  void aStreamThatRunsIsNotEndedByARevocation() throws IOException {
    CountDownLatch isRevoked = new CountDownLatch(1);
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n"))
            .thenAwait(isRevoked)
            .then(Script.raw(Script.chunks("data: 2\n\n", Script.DONE) + "0\r\n\r\n")));
    try (RawClient client = SCENE.client()) {
      client.send(stream(CHAT, "small").key(key));
      client.readHead();
      client.readUntil("\n\n");
      change(this::revoked);
      assertThat(status(key)).isEqualTo(401);

      isRevoked.countDown();
      StringBuilder rest = new StringBuilder();
      assertThat(client.readRest(rest)).isEqualTo(Ending.WHOLE);
      assertThat(rest.toString()).isEqualTo("data: 2\n\n" + Script.DONE);
    }
  }

  @Test
  void anEditInPlaceTakesEffectToo() throws IOException {
    current = revoked(current);
    awaitOneMore("ok", () -> Files.writeString(SCENE.sluice().keysFile(), current));

    assertThat(status(key)).isEqualTo(401);
  }

  @Test
  void aNewKeyWorksThoughItWasAskedForAndUnknownJustBefore() throws IOException {
    assertThat(status("sk-test-new")).isEqualTo(401);
    change(text -> text + entry("new").replace("subscription: new", "subscription: " + name));

    assertThat(status("sk-test-new")).isEqualTo(200);
  }

  @Test
  void aSubscriptionThatIsEndedIs403() throws IOException {
    assertThat(status(key)).isEqualTo(200);
    change(
        text ->
            text.replace(
                name + ": {plan: pro, active: true}", name + ": {plan: pro, active: false}"));

    assertThat(status(key)).isEqualTo(403);
  }

  @Test
  void aSubscriptionMayChangeItsPlan() throws IOException {
    assertThat(SCENE.exchange(Scene.chat("renamed").key(key)).status()).isEqualTo(200);
    change(text -> text.replace(name + ": {plan: pro,", name + ": {plan: free,"));

    assertThat(SCENE.exchange(Scene.chat("renamed").key(key)).status()).isEqualTo(403);
  }

  @Test
  void aBrokenVersionIsRefusedCountedAndLoggedAndTheOldOneStays() throws IOException {
    List<String> broken =
        List.of(
            "",
            revoked(current) + "  - {name: short, sha256: \"abc\", subscription: acme}\n",
            revoked(current).replace("subscription: hobby", "subscription: nobody"));
    for (String version : broken) {
      int logged = SCENE.sluice().stderr().size();
      awaitOneMore("refused", () -> write(version));

      Eventually.that("logged", () -> SCENE.sluice().stderr().size() > logged);
      assertThat(status(key)).isEqualTo(200);
    }
    change(this::revoked);
    assertThat(status(key)).isEqualTo(401);
  }

  @Test
  void aFileThatIsGoneForAMomentLeavesTheOldKeys() throws IOException {
    awaitOneMore("refused", () -> Files.delete(SCENE.sluice().keysFile()));
    assertThat(status(key)).isEqualTo(200);
    change(this::revoked);
    assertThat(status(key)).isEqualTo(401);
  }
}
