package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What operators take out of service and put back while callers ask. */
class OperatorCallsIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static Answer post(String target, String... headers) {
    Request request = Request.of("POST", target);
    for (int i = 0; i < headers.length; i += 2) {
      request = request.header(headers[i], headers[i + 1]);
    }
    return SCENE.sluice().admin(request);
  }

  private static Answer done(String target) {
    Answer answer = post(target);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    assertThat(answer.header("content-type")).isEqualTo("application/json");
    return answer;
  }

  @AfterEach
  void everythingIsBackInService() {
    SCENE.upstream.answers();
    for (Map<String, Object> one : maintenance(SCENE.sluice().admin("/maintenance"))) {
      String model = String.valueOf(one.get("model"));
      done("/maintenance?for=0s" + (model.equals("*") ? "" : "&model=" + model));
    }
    for (Map<String, Object> endpoint : endpoints(SCENE.sluice().admin("/endpoints"))) {
      done("/endpoints/" + endpoint.get("id") + "/restore");
    }
    assertThat(SCENE.exchange(chat("small")).status()).isEqualTo(200);
  }

  private static List<Map<String, Object>> maintenance(Answer answer) {
    return Json.objects(answer.json(), "maintenance");
  }

  private static List<Map<String, Object>> endpoints(Answer answer) {
    return Json.objects(answer.json(), "endpoints");
  }

  /** Seconds that are told later are no more, and as many fewer as have passed, rounded up. */
  private static void assertSeconds(long told, long atFirst, long sinceNanos) {
    long passed = System.nanoTime() - sinceNanos;
    assertThat(told).isBetween(atFirst - TimeUnit.NANOSECONDS.toSeconds(passed) - 1, atFirst);
  }

  @Test
  void inMaintenanceEveryRequestIsToldTheTrueRemainingSecondsAndWhatRunsGoesOn() {
    CountDownLatch mayEnd = new CountDownLatch(1);
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n"))
            .thenAwait(mayEnd)
            .then(Script.raw(Script.chunks("data: [DONE]\n\n") + "0\r\n\r\n")));
    try (RawClient running = SCENE.client()) {
      running.send(stream(CHAT, "small"));
      running.readHead();
      running.readUntil("\n\n");
      long begunNanos = System.nanoTime();
      Answer begun = done("/maintenance?for=1h");

      assertThat(maintenance(begun)).hasSize(1);
      assertThat(maintenance(begun).get(0)).containsEntry("model", "*");
      for (Request request : List.of(list(), chat("small"), chat("none"), list().key("sk-no"))) {
        Answer refused = SCENE.exchange(request);
        assertError(refused, 503);
        assertSeconds(Long.parseLong(refused.header("retry-after")), 3600, begunNanos);
      }
      Answer readiness = SCENE.sluice().admin("/readyz");
      assertThat(readiness.status()).isEqualTo(503);
      assertThat(readiness.text()).isEqualTo("maintenance\n");
      assertSeconds(
          (long)
              SCENE.sluice().metrics().sum("sluice_maintenance_remaining_seconds", "model=\"*\""),
          3600,
          begunNanos);
      assertThat(SCENE.sluice().metrics().sum("sluice_ready")).isZero();

      mayEnd.countDown();
      StringBuilder rest = new StringBuilder();
      assertThat(running.readRest(rest)).isEqualTo(Ending.WHOLE);
      assertThat(rest.toString()).isEqualTo("data: [DONE]\n\n");
    }
    assertThat(maintenance(done("/maintenance?for=0s"))).isEmpty();
    assertThat(SCENE.exchange(list()).status()).isEqualTo(200);
    assertThat(SCENE.sluice().admin("/readyz").status()).isEqualTo(200);
    assertThat(SCENE.sluice().metrics().sum("sluice_maintenance_remaining_seconds")).isZero();
  }

  @Test
  void maintenanceEndsByItselfAndNotBefore() {
    long begunNanos = System.nanoTime();
    done("/maintenance?for=1s");
    Eventually.that("back again", () -> SCENE.exchange(list()).status() == 200);

    assertThat(System.nanoTime() - begunNanos).isGreaterThanOrEqualTo(1_000_000_000L);
  }

  @Test
  void oneModelInMaintenanceIsRefusedAlone() {
    Answer begun = done("/maintenance?for=1h&model=openai%2Fgpt-oss-120b");
    assertThat(maintenance(begun).get(0)).containsEntry("model", "openai/gpt-oss-120b");

    assertError(SCENE.exchange(chat("openai/gpt-oss-120b")), 503);
    assertError(SCENE.exchange(stream(CHAT, "openai/gpt-oss-120b")), 503);
    assertError(SCENE.exchange(chat("openai/gpt-oss-120b").key(FREE)), 403);
    assertThat(SCENE.exchange(chat("small")).status()).isEqualTo(200);
    assertThat(SCENE.exchange(list()).status()).isEqualTo(200);
    assertThat(SCENE.sluice().admin("/readyz").status()).isEqualTo(200);
    assertThat(SCENE.upstream.waiting()).isEqualTo(1);
    assertThat(
            SCENE
                .sluice()
                .metrics()
                .sum("sluice_requests_total", "reason=\"maintenance\"", "status=\"503\""))
        .isGreaterThanOrEqualTo(2);
  }

  @Test
  void anEndpointThatIsEjectedIsUsedNoLongerUntilItIsRestored() {
    CountDownLatch mayEnd = new CountDownLatch(1);
    SCENE.upstream.answers(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n"))
            .thenAwait(mayEnd)
            .then(Script.raw(Script.chunks("data: [DONE]\n\n") + "0\r\n\r\n")));
    String id = "127.0.0.1:" + SCENE.upstream.port();
    try (RawClient running = SCENE.client()) {
      running.send(stream(CHAT, "small"));
      running.readHead();
      running.readUntil("\n\n");
      Answer ejected = done("/endpoints/" + id.replace(":", "%3A") + "/eject?model=small");

      assertThat(endpoints(ejected)).hasSize(1);
      assertThat(endpoints(ejected).get(0))
          .containsEntry("model", "small")
          .containsEntry("id", id)
          .containsEntry("state", "out")
          .containsEntry("open_exchanges", 1);
      assertError(SCENE.exchange(chat("small")), 503);
      assertThat(SCENE.exchange(chat("openai/gpt-oss-120b")).status()).isEqualTo(200);

      mayEnd.countDown();
      assertThat(running.readRest(new StringBuilder())).isEqualTo(Ending.WHOLE);
    }
    assertThat(endpoints(done("/endpoints/" + id + "/restore?model=small")).get(0))
        .containsEntry("state", "healthy");
    assertThat(SCENE.exchange(chat("small")).status()).isEqualTo(200);
  }

  @Test
  void whatIsRefusedChangesNothing() {
    assertThat(post("/maintenance?for=soon").text())
        .isEqualTo(
            "{\"error\":\"for: soon (expected: a duration from 0ms to 24h, as in 10s; units ms, s,"
                + " m, h)\"}\n");
    assertThat(post("/maintenance?for=1h", "Origin", "http://127.0.0.1").status()).isEqualTo(403);
    assertThat(post("/drain", "Sec-Fetch-Site", "cross-site").status()).isEqualTo(403);
    assertThat(post("/endpoints/nowhere/eject").status()).isEqualTo(404);
    assertThat(post("/nowhere").status()).isEqualTo(404);
    Answer wrong = post("/metrics");
    assertThat(wrong.status()).isEqualTo(405);
    assertThat(wrong.header("allow")).isEqualTo("GET, HEAD");

    assertThat(SCENE.sluice().admin("/drain").text())
        .startsWith("{\"draining\":false,\"deadline_seconds\":null,");
    assertThat(maintenance(SCENE.sluice().admin("/maintenance"))).isEmpty();
    assertThat(SCENE.exchange(chat("small")).status()).isEqualTo(200);
  }

  @Test
  void nothingOfItIsReachableOnThePublicPort() {
    assertError(SCENE.exchange(Request.of("POST", "/drain").key(FREE)), 404);
    assertError(SCENE.exchange(Request.of("POST", "/maintenance?for=1h").key(FREE)), 404);
  }

  @Test
  void everyCallIsLoggedWithWhoMadeIt() {
    done("/maintenance?for=7s&model=small");
    post("/maintenance?for=8s&secret=1");

    Eventually.that(
        "both are logged",
        () ->
            logged("POST /maintenance?for=7s&model=small: 200")
                && logged("POST /maintenance: 400"));
    assertThat(SCENE.sluice().stderr()).noneMatch(line -> line.contains("secret"));
  }

  private static boolean logged(String call) {
    return SCENE.sluice().stderr().stream()
        .anyMatch(
            line ->
                line.matches(".* INFO .*operator at 127\\.0\\.0\\.1:\\d+: .*")
                    && line.endsWith(call));
  }
}
