package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.FREE_TOO;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.PRO_TOO;
import static dev.sluice.contract.Scene.body;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.Metrics;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** All of the configuration changes while the process runs; what runs is not touched. */
class ConfigReloadIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String EVENT = "data: 1\n\n";
  private static final String LAST_EVENTS = "data: 2\n\ndata: [DONE]\n\n";
  private static final String OPERATIONS = "operations:\n";
  private static final String MODELS = "models:\n";
  private static final String FREE_PLAN = "free: {streams: 2, models: [small]}";

  private String config = "";
  private String keys = "";

  @BeforeEach
  void rememberTheFiles() throws IOException {
    config = Files.readString(SCENE.sluice().configFile());
    keys = Files.readString(SCENE.sluice().keysFile());
  }

  @AfterEach
  void everythingIsAsItWas() throws IOException {
    write(SCENE.sluice().keysFile(), keys);
    write(SCENE.sluice().configFile(), config);
    hangUp();
    assertThat(SCENE.exchange(Scene.list()).status()).isEqualTo(200);
    SCENE.assertAtRest();
  }

  private static void write(Path file, String text) throws IOException {
    Path beside = Files.writeString(file.resolveSibling("new"), text);
    Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Writes a version with one change, and waits until it is counted: from then on it holds. */
  private void change(String from, String to) throws IOException {
    assertThat(config).contains(from);
    awaitOneMore("ok", config.replace(from, to));
  }

  private static void awaitOneMore(String result, String version) throws IOException {
    double before = reloads(SCENE.sluice().metrics(), result);
    write(SCENE.sluice().configFile(), version);
    SCENE
        .sluice()
        .awaitMetrics(
            "one more reload " + result, metrics -> reloads(metrics, result) == before + 1);
  }

  private static double reloads(Metrics metrics, String result) {
    return metrics.sum("sluice_config_reload_total", "result=\"" + result + "\"");
  }

  /** Sends SIGHUP, and waits until the log tells what came of it. */
  private static void hangUp() {
    int heard = asked(SCENE.sluice().stderr()).size();
    SCENE.sluice().hangUp();
    Eventually.that(
        "SIGHUP heard and answered",
        () -> {
          List<String> log = SCENE.sluice().stderr();
          List<Integer> asked = asked(log);
          return asked.size() == heard + 1
              && log.subList(asked.get(heard), log.size()).stream()
                  .anyMatch(line -> line.contains("sluice.yaml: new version "));
        });
  }

  private static List<Integer> asked(List<String> log) {
    List<Integer> lines = new ArrayList<>();
    for (int i = 0; i < log.size(); i++) {
      if (log.get(i).contains("as SIGHUP asks")) {
        lines.add(i);
      }
    }
    return lines;
  }

  private static Map<String, Object> told() {
    Answer answer = SCENE.sluice().admin("/config");
    assertThat(answer.status()).isEqualTo(200);
    return answer.json();
  }

  private static int version() {
    return told().get("version") instanceof Integer version ? version : -1;
  }

  private static void awaitLogged(String end) {
    Eventually.that(
        "logged: " + end,
        () -> SCENE.sluice().stderr().stream().anyMatch(line -> line.endsWith(end)));
  }

  /** A stream whose first event has come; it ends when the latch says so. */
  private static RawClient running(String key, String model, CountDownLatch mayEnd) {
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks(EVENT))
            .thenAwait(mayEnd)
            .then(Script.raw(Script.chunks(LAST_EVENTS) + "0\r\n\r\n")));
    RawClient client = SCENE.client();
    client.send(stream(CHAT, model).key(key));
    assertThat(client.readHead().status()).isEqualTo(200);
    assertThat(client.readUntil("\n\n")).isEqualTo(EVENT);
    return client;
  }

  private static void assertEndsWhole(RawClient stream) {
    StringBuilder rest = new StringBuilder();
    assertThat(stream.readRest(rest)).isEqualTo(Ending.WHOLE);
    assertThat(rest).hasToString(LAST_EVENTS);
    stream.close();
  }

  @Test
  void aModelThatIsAddedIsListedServedAndMetered() throws IOException {
    String added = "added: {upstreams: [{url: \"http://127.0.0.1:%d\"}]}";
    assertError(SCENE.exchange(chat("added")), 404);
    change(MODELS, MODELS + "  " + added.formatted(SCENE.upstream.port()) + "\n");

    assertThat(SCENE.exchange(Scene.list()).text()).contains("\"id\":\"added\"");
    assertThat(SCENE.exchange(chat("added")).status()).isEqualTo(200);
    Metrics metrics = SCENE.metricsAtRest();
    assertThat(metrics.sum("sluice_requests_total", "model=\"added\"")).isEqualTo(1);
    assertThat(metrics.has("sluice_upstream_connections", "model=\"added\"")).isTrue();
    awaitLogged("sluice.yaml: new version taken: models added: added");
  }

  @Test
  void aModelThatIsRemovedIsUnknownAndItsConnectionsAreClosed() throws IOException {
    SCENE.forgetUpstreamConnections();
    assertThat(SCENE.exchange(chat("openai/gpt-oss-120b")).status()).isEqualTo(200);
    Eventually.that("an idle connection", () -> SCENE.upstream.open() == 1);
    String model = "  openai/gpt-oss-120b:\n    upstreams:";
    change(model, model.replace("openai/gpt-oss-120b", "other"));

    assertError(SCENE.exchange(chat("openai/gpt-oss-120b")), 404);
    assertThat(SCENE.exchange(Scene.list()).text()).doesNotContain("gpt-oss");
    Eventually.that("closed at once", () -> SCENE.upstream.open() == 0);
    assertThat(
            SCENE
                .sluice()
                .metrics()
                .has("sluice_upstream_connections", "model=\"openai/gpt-oss-120b\""))
        .isFalse();
  }

  @Test
  void anOperationThatIsAddedIsServed() throws IOException {
    Request rerank = Request.post("/v1/rerank", "{\"model\":\"small\"}").key(PRO);
    assertError(SCENE.exchange(rerank), 404);
    change(OPERATIONS, OPERATIONS + "  /v1/rerank: {messages: false}\n");

    assertThat(SCENE.exchange(rerank).status()).isEqualTo(200);
    assertThat(SCENE.metricsAtRest().sum("sluice_requests_total", "operation=\"rerank\""))
        .isEqualTo(1);
  }

  @Test
  void limitsThatChangeHoldFromTheNextRequestOn() throws IOException {
    Request request =
        Request.post(CHAT, body("small", "\"user\":\"" + "x".repeat(2000) + "\",")).key(PRO);
    try (RawClient client = SCENE.client()) {
      assertThat(client.exchange(request).status()).isEqualTo(200);
      change("max-body-bytes: 64KiB", "max-body-bytes: 1KiB");
      assertThat(assertError(client.exchange(request), 413)).contains("1024 bytes");
    }
  }

  @Test
  void aPlanAndItsKeysMayBeRenamedTogether() throws IOException {
    write(SCENE.sluice().keysFile(), keys.replace("plan: free", "plan: gratis"));
    change("free: {", "gratis: {");

    assertThat(SCENE.exchange(chat("small").key(FREE)).status()).isEqualTo(200);
    Metrics metrics = SCENE.metricsAtRest();
    assertThat(metrics.sum("sluice_requests_total", "plan=\"gratis\"")).isEqualTo(1);
    assertThat(metrics.has("sluice_stream_slots_limit", "plan=\"free\"")).isFalse();
    assertThat(metrics.sum("sluice_stream_slots_limit", "plan=\"gratis\"")).isEqualTo(2);
  }

  @Test
  void aLimitMayShrinkBelowWhatIsInUse() throws IOException {
    CountDownLatch oneMayEnd = new CountDownLatch(1);
    CountDownLatch otherMayEnd = new CountDownLatch(1);
    RawClient one = running(FREE, "small", oneMayEnd);
    RawClient other = running(FREE_TOO, "small", otherMayEnd);
    change(FREE_PLAN, FREE_PLAN.replace("2", "1"));

    Metrics metrics = SCENE.sluice().metrics();
    assertThat(metrics.sum("sluice_stream_slots_in_use", "plan=\"free\"")).isEqualTo(2);
    assertThat(metrics.sum("sluice_stream_slots_limit", "plan=\"free\"")).isEqualTo(1);
    Request next = stream(CHAT, "small").key(FREE);
    assertError(SCENE.exchange(next), 429);
    oneMayEnd.countDown();
    assertEndsWhole(one);
    assertThat(assertError(SCENE.exchange(next), 429)).contains(" 1 ");
    otherMayEnd.countDown();
    assertEndsWhole(other);
    SCENE.upstream.always(Script.stream(EVENT, "data: [DONE]\n\n"));
    assertThat(SCENE.exchange(next).status()).isEqualTo(200);
  }

  @Test
  void aStreamOutlivesItsModelAndItsPlan() throws IOException {
    CountDownLatch mayEnd = new CountDownLatch(1);
    RawClient stream = running(FREE, "small", mayEnd);
    write(SCENE.sluice().keysFile(), keys.replace("plan: free", "plan: pro"));
    awaitOneMore("ok", config.replace(FREE_PLAN, "").replace("  small:\n", "  other:\n"));
    assertError(SCENE.exchange(chat("small").key(FREE)), 404);

    mayEnd.countDown();
    assertEndsWhole(stream);
    assertThat(
            SCENE
                .metricsAtRest()
                .sum(
                    "sluice_requests_total", "model=\"small\"", "plan=\"free\"", "reason=\"none\""))
        .isPositive();
  }

  @Test
  void aVersionThatIsRefusedChangesNothingAndSaysWhy() throws IOException {
    int version = version();
    double ok = reloads(SCENE.sluice().metrics(), "ok");
    awaitOneMore("refused", config.replace("free: {streams: 2", "free: {streams: 0"));

    Map<String, Object> told = told();
    assertThat(told).containsEntry("version", version);
    Map<String, Object> read = Json.object(told, "last_read");
    assertThat(read).containsEntry("result", "refused").containsEntry("fault_count", 1);
    assertThat(String.valueOf(read.get("faults")))
        .contains("plans.free.streams: 0 (expected: a whole number >= 1)");
    awaitLogged("plans.free.streams: 0 (expected: a whole number >= 1)");
    assertThat(reloads(SCENE.sluice().metrics(), "ok")).isEqualTo(ok);
    assertThat(SCENE.exchange(chat("small").key(FREE)).status()).isEqualTo(200);
    assertThat(Json.object(Json.object(told, "config"), "limits"))
        .containsEntry("max-body-bytes", "64KiB");
  }

  @Test
  void whatCannotChangeWhileItRunsIsRefusedWithItsLine() throws IOException {
    awaitOneMore("refused", config.replace("listen: 127.0.0.1:0", "listen: 127.0.0.1:1"));

    assertThat(String.valueOf(Json.object(told(), "last_read").get("faults")))
        .contains("sluice.yaml:1: listen: 127.0.0.1:1 (expected: 127.0.0.1:0 until a restart)");
  }

  @Test
  void aRevocationTakesEffectThoughTheConfigurationIsBroken() throws IOException {
    awaitOneMore("refused", config.replace("plans:", "plans: ["));
    write(
        SCENE.sluice().keysFile(),
        keys.replace("subscription: acme, expires", "subscription: acme, revoked: true, expires")
            .replace("2999-01-31, revoked: false", "2999-01-31"));
    Eventually.that("revoked", () -> SCENE.exchange(Scene.list().key(PRO_TOO)).status() == 401);
  }

  @Test
  void operatorsAreToldWhatIsInEffectWithoutASecret() {
    Answer answer = SCENE.sluice().admin("/config");

    assertThat(answer.text()).doesNotContain(Scene.UPSTREAM_KEY);
    assertThat(answer.header("content-type")).isEqualTo("application/json");
    Map<String, Object> models = Json.object(Json.object(answer.json(), "config"), "models");
    Map<String, Object> renamed = Json.object(models, "renamed");
    assertThat(renamed).containsEntry("upstream-model", "llama-3.1-8b");
    assertThat(Json.objects(renamed, "upstreams").get(0)).containsEntry("api-key-env", "***");
    assertThat(SCENE.exchange(Request.get("/config").key(PRO)).status()).isEqualTo(404);
  }

  @Test
  void whoHangsUpGetsTheFilesReadAtOnceThoughTheyDidNotChange() {
    int version = version();
    double before = reloads(SCENE.sluice().metrics(), "ok");
    hangUp();

    assertThat(told()).containsEntry("version", version + 1);
    assertThat(reloads(SCENE.sluice().metrics(), "ok")).isEqualTo(before + 1);
    awaitLogged("sluice.yaml: new version taken: nothing differs");
  }

  @Test
  void hangUpsDoNotEndAProcessThatStarts() {
    try (Scene scene = new Scene().whileItStarts(process -> process.hangUp()).start()) {
      Eventually.that(
          "read again",
          () ->
              scene.sluice().stderr().stream()
                  .anyMatch(line -> line.contains("new version taken: nothing differs")));
      assertThat(scene.exchange(Scene.list()).status()).isEqualTo(200);
    }
  }

  /** Names come and go, bounds and plans change, under callers who must not notice. */
  @Test
  void twentyReloadsUnderTrafficFailNobody() throws Exception {
    CountDownLatch mayEnd = new CountDownLatch(1);
    RawClient throughout = running(FREE, "small", mayEnd);
    SCENE.upstream.always(Script.stream(EVENT, "data: 2\n\n", "data: [DONE]\n\n"));
    AtomicBoolean over = new AtomicBoolean();
    List<CompletableFuture<Integer>> callers = new ArrayList<>();
    for (String key : List.of(PRO, PRO, PRO_TOO, PRO_TOO)) {
      callers.add(CompletableFuture.supplyAsync(() -> streamUntil(over, key)));
    }
    for (int i = 0; i < 20; i++) {
      String plan = i % 2 == 0 ? "pro" : "pro" + i;
      write(SCENE.sluice().keysFile(), keys.replace("plan: pro", "plan: " + plan));
      write(
          SCENE.sluice().configFile(),
          config
              .replace("pro: {streams: 20", plan + ": {streams: " + (10 + i))
              .replace(MODELS, MODELS + model("extra-" + i))
              .replace(
                  "  small:\n", model("extra") + "  small:\n    attempts: " + (1 + i % 5) + "\n")
              .replace(OPERATIONS, OPERATIONS + "  /v1/extra-" + i + ": {messages: true}\n")
              .replace("64KiB", (32 + i) + "KiB"));
      hangUp();
    }
    over.set(true);
    for (CompletableFuture<Integer> caller : callers) {
      assertThat(caller.get(1, TimeUnit.MINUTES)).isPositive();
    }
    mayEnd.countDown();
    assertEndsWhole(throughout);
  }

  private static String model(String id) {
    return "  %s: {upstreams: [{url: \"http://127.0.0.1:%d\"}]}\n"
        .formatted(id, SCENE.upstream.port());
  }

  /** Streams, one after the other over one connection; how many, all of them whole. */
  private static int streamUntil(AtomicBoolean over, String key) {
    int streams = 0;
    try (RawClient client = SCENE.client()) {
      while (!over.get()) {
        Answer answer = client.exchange(stream(CHAT, "small").key(key));
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        assertThat(answer.ending()).isEqualTo(Ending.WHOLE);
        assertThat(answer.text()).endsWith("data: [DONE]\n\n");
        streams++;
      }
    }
    return streams;
  }
}
