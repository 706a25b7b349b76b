package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Errors.assertErrorEvent;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A drain that an operator began: what runs goes on to its deadline, and the process lives. */
class DrainIT {
  private static final Script STALLED =
      Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenStall();

  private static Map<String, Object> drain(Scene scene, String query) {
    Answer answer = scene.sluice().admin(Request.of("POST", "/drain" + query));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.json();
  }

  private static Map<String, Object> report(Scene scene) {
    return scene.sluice().admin("/drain").json();
  }

  private static int seconds(Map<String, Object> report) {
    return ((Number) report.getOrDefault("deadline_seconds", -1)).intValue();
  }

  private static Answer begin(RawClient client, String path) {
    client.send(stream(path, "small"));
    Answer head = client.readHead();
    assertThat(head.status()).isEqualTo(200);
    assertThat(client.readUntil("\n\n")).isEqualTo("data: 1\n\n");
    return head;
  }

  private static void assertBrokenOff(RawClient client, Answer head, boolean named) {
    StringBuilder rest = new StringBuilder("data: 1\n\n");
    assertThat(client.readRest(rest)).isEqualTo(Ending.BROKEN_OFF);
    assertErrorEvent(rest.toString(), named, 503, head.header("x-request-id"));
  }

  private static void assertTurnedAway(Scene scene) {
    for (Request request : new Request[] {chat("small"), list()}) {
      try (RawClient fresh = scene.client()) {
        Answer answer = fresh.exchange(request);
        assertError(answer, 503);
        assertThat(answer.header("connection")).isEqualToIgnoringCase("close");
        fresh.assertClosed();
      }
    }
    assertThat(scene.sluice().admin("/readyz").text()).isEqualTo("draining\n");
  }

  @Test
  void whatRunsFinishesAndTheProcessTurnsCallersAwayUntilItIsTold() {
    CountDownLatch mayEnd = new CountDownLatch(1);
    try (Scene scene = new Scene().start();
        RawClient idle = scene.client();
        RawClient running = scene.client()) {
      scene.upstream.always(
          Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n"))
              .thenAwait(mayEnd)
              .then(Script.raw(Script.chunks("data: [DONE]\n\n") + "0\r\n\r\n")));
      Scene.assertOpen(idle);
      begin(running, CHAT);
      Map<String, Object> begun = drain(scene, "?deadline=1h");

      assertThat(begun)
          .containsEntry("draining", true)
          .containsEntry("exchanges", 1)
          .containsEntry("streams", 1);
      assertThat(seconds(begun)).isBetween(3000, 3600);
      assertThat(scene.sluice().metrics().sum("sluice_draining")).isEqualTo(1);
      assertThat(scene.sluice().metrics().sum("sluice_exchanges_open")).isEqualTo(1);
      assertError(idle.exchange(list()), 503);
      assertTurnedAway(scene);

      mayEnd.countDown();
      StringBuilder rest = new StringBuilder();
      assertThat(running.readRest(rest)).isEqualTo(Ending.WHOLE);
      assertThat(rest.toString()).isEqualTo("data: [DONE]\n\n");
      scene
          .sluice()
          .awaitMetrics(
              "nothing is under way", metrics -> metrics.sum("sluice_exchanges_open") == 0);
      assertThat(report(scene)).containsEntry("exchanges", 0).containsEntry("streams", 0);
      assertTurnedAway(scene);

      scene.sluice().terminate();
      assertThat(scene.sluice().awaitExit(Scene.END)).isZero();
    }
  }

  @Test
  void whatRunsAtTheDeadlineEndsAndTheProcessLives() {
    try (Scene scene = new Scene().start();
        RawClient chat = scene.client();
        RawClient messages = scene.client();
        RawClient whole = scene.client()) {
      scene.upstream.answers(STALLED, STALLED, Script.stall());
      Answer chatHead = begin(chat, CHAT);
      Answer messagesHead = begin(messages, MESSAGES);
      whole.send(chat("small"));
      scene.upstream.take();
      scene.upstream.take();
      scene.upstream.take();
      drain(scene, "?deadline=1h");
      // The deadline may be moved; a call without one only reports.
      assertThat(drain(scene, "")).containsEntry("exchanges", 3).containsEntry("streams", 2);
      assertThat(seconds(report(scene))).isBetween(3000, 3600);
      drain(scene, "?deadline=0s");

      assertBrokenOff(chat, chatHead, false);
      assertBrokenOff(messages, messagesHead, true);
      assertError(whole.read(), 503);
      assertThat(report(scene)).containsEntry("deadline_seconds", 0);
      scene.assertAtRest();
      assertTurnedAway(scene);
      assertThat(scene.sluice().metrics().sum("sluice_streams_ended_total", "cause=\"shutdown\""))
          .isEqualTo(2);
    }
  }

  @Test
  void aShutdownDoesNotWaitForTheLaterDeadlineOfADrain() {
    try (Scene scene = new Scene().shutdownGrace("1s").start();
        RawClient running = scene.client()) {
      scene.upstream.always(STALLED);
      Answer head = begin(running, CHAT);
      drain(scene, "?deadline=24h");
      scene.sluice().terminate();

      assertBrokenOff(running, head, false);
      assertThat(scene.sluice().awaitExit(Scene.END)).isZero();
    }
  }

  @Test
  void aShutdownKeepsTheEarlierDeadlineOfADrain() {
    try (Scene scene = new Scene().start();
        RawClient running = scene.client()) {
      scene.upstream.always(STALLED);
      Answer head = begin(running, CHAT);
      drain(scene, "?deadline=1s");
      scene.sluice().terminate();

      assertBrokenOff(running, head, false);
      assertThat(scene.sluice().awaitExit(Scene.END)).isZero();
    }
  }

  @Test
  void withoutADeadlineItIsTheConfiguredGracePeriod() {
    try (Scene scene = new Scene().shutdownGrace("0s").start();
        RawClient running = scene.client()) {
      scene.upstream.always(STALLED);
      Answer head = begin(running, CHAT);
      assertThat(drain(scene, "")).containsEntry("deadline_seconds", 0);

      assertBrokenOff(running, head, false);
      scene.assertAtRest();
    }
  }
}
