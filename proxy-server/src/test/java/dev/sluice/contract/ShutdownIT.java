package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.UNKNOWN;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** SIGTERM while streams run: they finish, new requests are turned away, the exit code is 0. */
class ShutdownIT {

  private static RawClient running(Scene scene, String path) {
    RawClient client = scene.client();
    client.send(stream(path, "small"));
    assertThat(client.readHead().status()).isEqualTo(200);
    assertThat(client.readUntil("\n\n")).isEqualTo("data: 1\n\n");
    return client;
  }

  private static void assertDraining(RawClient client, Request request) {
    Answer answer = client.exchange(request);
    assertError(answer, 503);
    assertThat(answer.header("connection")).isEqualToIgnoringCase("close");
    client.assertClosed();
  }

  @Test
  void runningAnswersFinishAndNewRequestsAre503UntilTheProcessEndsWithCode0() {
    CountDownLatch mayEnd = new CountDownLatch(1);
    try (Scene scene = new Scene().start();
        RawClient idle = scene.client();
        RawClient next = scene.client()) {
      scene.upstream.always(
          Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n"))
              .thenAwait(mayEnd)
              .then(Script.raw(Script.chunks("data: 2\n\n", Script.DONE) + "0\r\n\r\n")));
      try (RawClient stream = running(scene, CHAT)) {
        Scene.assertOpen(idle);
        Scene.assertOpen(next);
        scene.sluice().terminate();
        Eventually.that("not ready", () -> scene.sluice().admin("/readyz").status() == 503);

        assertDraining(next, chat("small"));
        assertNewRequestsAreTurnedAway(scene);
        mayEnd.countDown();
        StringBuilder rest = new StringBuilder();
        assertThat(stream.readRest(rest)).isEqualTo(Ending.WHOLE);
        assertThat(rest.toString()).isEqualTo("data: 2\n\n" + Script.DONE);
        assertThat(scene.sluice().awaitExit(Scene.END)).isZero();
        idle.assertClosed();
      }
    }
  }

  /** In the order of the contract: unreadable HTTP, then draining, then every other check. */
  private static void assertNewRequestsAreTurnedAway(Scene scene) {
    try (RawClient fresh = scene.client()) {
      assertDraining(fresh, chat("small"));
    }
    try (RawClient fresh = scene.client()) {
      assertDraining(fresh, list());
    }
    try (RawClient fresh = scene.client()) {
      assertError(fresh.exchange(list().rawHeader("X-A : 1")), 400);
    }
    Request hopeless = Request.of("POST", CHAT).key(UNKNOWN).header("Content-Length", "1000000000");
    try (RawClient fresh = scene.client()) {
      assertError(fresh.exchange(hopeless), 503);
    }
  }

  @Test
  void aStreamThatOutlastsTheGracePeriodEndsWithAnErrorEvent() {
    try (Scene scene = new Scene().shutdownGrace("1s").start()) {
      scene.upstream.always(
          Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenStall());
      try (RawClient client = running(scene, MESSAGES)) {
        scene.sluice().terminate();

        StringBuilder rest = new StringBuilder();
        assertThat(client.readRest(rest)).isEqualTo(Ending.BROKEN_OFF);
        assertThat(rest).startsWith("event: error\ndata: {").contains("overloaded_error");
        assertThat(rest).endsWith("\n\n");
        assertThat(scene.sluice().awaitExit(Scene.END)).isZero();
        scene.upstream.take().awaitGone();
      }
    }
  }

  @Test
  void aProcessWithNothingToDoEndsAtOnce() {
    try (Scene scene = new Scene().start();
        RawClient idle = scene.client()) {
      Scene.assertOpen(idle);
      scene.sluice().terminate();

      assertThat(scene.sluice().awaitExit(Scene.END)).isZero();
      idle.assertClosed();
    }
  }
}
