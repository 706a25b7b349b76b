package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.FREE_TOO;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.PRO_TOO;
import static dev.sluice.contract.Scene.body;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Metrics;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Recorded;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One slot a stream, held no longer than it runs, however it ends. */
class StreamSlotsIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String LIMIT = "x-ratelimit-limit-streams";
  private static final String REMAINING = "x-ratelimit-remaining-streams";
  private static final String EVENT = "data: 1\n\n";
  private static final String DONE = "data: [DONE]\n\n";
  private static final Script RUNNING =
      Script.raw(Script.streamHead() + Script.chunks(EVENT)).thenStall();

  private final List<RawClient> clients = new ArrayList<>();

  @AfterEach
  void everySlotIsFreeAgain() {
    clients.forEach(RawClient::close);
    SCENE.assertAtRest();
  }

  private RawClient client() {
    RawClient client = SCENE.client();
    clients.add(client);
    return client;
  }

  /** Starts a stream and waits for its first event. */
  private RawClient running(String key) {
    RawClient client = client();
    client.send(stream(CHAT, "small").key(key));
    assertThat(client.readHead().status()).isEqualTo(200);
    assertThat(client.readUntil("\n\n")).isEqualTo(EVENT);
    return client;
  }

  private static void awaitInUse(String plan, int slots) {
    SCENE
        .sluice()
        .awaitMetrics(
            slots + " slots of plan " + plan + " in use",
            metrics -> metrics.sum("sluice_stream_slots_in_use", "plan=\"" + plan + "\"") == slots);
  }

  @Test
  void aPlansSlotsCountAllItsKeys() {
    SCENE.upstream.always(RUNNING);
    running(FREE);
    running(FREE_TOO);
    awaitInUse("free", 2);

    for (String key : List.of(FREE, FREE_TOO)) {
      String message = assertError(SCENE.exchange(stream(MESSAGES, "small").key(key)), 429);
      assertThat(message).contains("2");
    }
    running(PRO);
    awaitInUse("pro", 1);
  }

  @Test
  void aKeysStreamsAreBoundedAndOtherKeysOfThePlanGoOn() {
    SCENE.upstream.always(RUNNING);
    for (int i = 0; i < 3; i++) {
      running(PRO);
    }

    assertThat(assertError(SCENE.exchange(stream(CHAT, "small").key(PRO)), 429)).contains("3");
    running(PRO_TOO);
    awaitInUse("pro", 4);
  }

  private static void assertSlots(Answer answer, int limit, int remaining) {
    assertThat(answer.header(LIMIT)).isEqualTo(Integer.toString(limit));
    assertThat(answer.header(REMAINING)).isEqualTo(Integer.toString(remaining));
  }

  private static void assertNoSlots(Answer answer) {
    assertThat(answer.headers(LIMIT)).isEmpty();
    assertThat(answer.headers(REMAINING)).isEmpty();
  }

  @Test
  void everyStreamingAnswerSaysHowManySlotsAreLeft() {
    SCENE.upstream.always(RUNNING);
    for (int remaining = 1; remaining >= 0; remaining--) {
      RawClient client = client();
      client.send(stream(CHAT, "small").key(FREE));
      Answer head = client.readHead();
      assertThat(head.status()).isEqualTo(200);
      assertSlots(head, 2, remaining);
    }

    Answer refused = SCENE.exchange(stream(MESSAGES, "small").key(FREE_TOO));
    assertError(refused, 429);
    assertSlots(refused, 2, 0);

    RawClient ofKey = client();
    ofKey.send(stream(CHAT, "small").key(PRO));
    assertSlots(ofKey.readHead(), 3, 2);
    SCENE.upstream.answers();
    assertNoSlots(SCENE.exchange(chat("small")));
    assertNoSlots(SCENE.exchange(Scene.list()));
    assertNoSlots(SCENE.exchange(stream(CHAT, "unheard-of")));
    assertNoSlots(SCENE.exchange(stream(CHAT, "renamed").key(FREE)));
  }

  @Test
  void anErrorOfAStreamingRequestSaysHowManySlotsAreLeft() {
    for (int status : List.of(400, 429, 500, 503)) {
      SCENE.upstream.always(Script.json(status, "{}", LIMIT + ": 100", REMAINING + ": 99"));
      assertSlots(SCENE.exchange(stream(CHAT, "small").key(FREE)), 2, 1);
      assertNoSlots(SCENE.exchange(chat("small").key(FREE)));
    }
    assertSlots(SCENE.exchange(stream(MESSAGES, "refusing")), 3, 2);
  }

  @Test
  void whatAnUpstreamSaysOfStreamsOfItsOwnIsNotPassedOn() {
    SCENE.upstream.always(
        Script.raw(
            Script.streamHead().replaceFirst("\r\n", "\r\n" + LIMIT + ": 100\r\n")
                + Script.chunks(EVENT, DONE)
                + "0\r\n\r\n"));
    assertSlots(SCENE.exchange(stream(CHAT, "small").key(FREE)), 2, 1);

    SCENE.upstream.always(Script.json("{}", LIMIT + ": 100", REMAINING + ": 99"));
    assertNoSlots(SCENE.exchange(chat("small").key(FREE)));
  }

  @Test
  void theMetersKnowLimitsAndRejections() {
    Metrics before = SCENE.metricsAtRest();
    SCENE.upstream.always(RUNNING);
    running(FREE);
    running(FREE);
    assertError(SCENE.exchange(stream(CHAT, "small").key(FREE)), 429);

    assertThat(before.sum("sluice_stream_slots_limit", "plan=\"free\"")).isEqualTo(2);
    assertThat(before.sum("sluice_stream_slots_limit", "plan=\"pro\"")).isEqualTo(20);
    SCENE
        .sluice()
        .awaitMetrics(
            "one more rejection", after -> rejected(after, "free") == rejected(before, "free") + 1);
  }

  private static double rejected(Metrics metrics, String plan) {
    return metrics.sum("sluice_stream_slots_rejected_total", "plan=\"" + plan + "\"");
  }

  @ParameterizedTest(name = "with {0}")
  @ValueSource(strings = {"", "\"stream\":false,", "\"stream\":null,"})
  void aRequestThatIsNoStreamingOneTakesNoSlot(String member) {
    SCENE.upstream.always(RUNNING);
    running(FREE);
    running(FREE);
    SCENE.upstream.answers();

    Request request = Request.post(CHAT, body("small", member)).key(FREE);
    assertThat(SCENE.exchange(request).status()).isEqualTo(200);
    awaitInUse("free", 2);
  }

  @Test
  void aRunningStreamIsNotDisturbedByRejectedOnes() {
    CountDownLatch refused = new CountDownLatch(1);
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks(EVENT))
            .thenAwait(refused)
            .then(Script.raw(Script.chunks("data: 2\n\n", DONE) + "0\r\n\r\n")));
    RawClient one = running(FREE);
    RawClient two = running(FREE);
    for (int i = 0; i < 20; i++) {
      assertError(SCENE.exchange(stream(CHAT, "small").key(FREE)), 429);
    }

    refused.countDown();
    for (RawClient client : List.of(one, two)) {
      StringBuilder rest = new StringBuilder();
      assertThat(client.readRest(rest)).isEqualTo(Ending.WHOLE);
      assertThat(rest.toString()).isEqualTo("data: 2\n\n" + DONE);
    }
  }

  @Test
  void aSlotIsFreeOnceTheAnswerHasEnded() {
    SCENE.upstream.always(Script.stream(EVENT, DONE));
    RawClient client = client();
    for (int i = 0; i < 50; i++) {
      assertThat(client.exchange(stream(CHAT, "small").key(FREE)).status()).isEqualTo(200);
    }
  }

  @Test
  void aSlotIsFreeOnceTheClientHasClosedAndTheUpstreamIsCancelledAtOnce() {
    SCENE.upstream.always(RUNNING);
    for (int i = 0; i < 5; i++) {
      RawClient client = running(FREE);
      client.close();
      SCENE.upstream.take().awaitGone();
    }
  }

  @Test
  void aSlotIsFreeOnceTheClientHasResetAndTheUpstreamIsCancelledAtOnce() {
    SCENE.upstream.always(RUNNING);
    for (int i = 0; i < 5; i++) {
      RawClient client = running(FREE);
      client.reset();
      SCENE.upstream.take().awaitGone();
    }
  }

  @Test
  void aSlotIsFreeOnceTheClientHasGoneBeforeTheFirstByte() {
    for (Script silent : List.of(Script.stall(), Script.raw(Script.streamHead()).thenStall())) {
      SCENE.upstream.always(silent);
      for (boolean reset : List.of(true, false)) {
        RawClient client = client();
        client.send(stream(CHAT, "small").key(FREE));
        Recorded request = SCENE.upstream.take();
        awaitInUse("free", 1);
        if (reset) {
          client.reset();
        } else {
          client.close();
        }
        request.awaitGone();
        awaitInUse("free", 0);
      }
    }
  }

  @Test
  void aSlotIsFreeOnceTheClientHasGoneWhileTheUpstreamIsStillConnecting() {
    RawClient client = client();
    client.send(stream(CHAT, "silent-long"));
    awaitInUse("pro", 1);

    client.reset();

    awaitInUse("pro", 0);
  }

  @Test
  void aRequestThatIsNoStreamIsCancelledTooWhenItsClientHasGone() {
    SCENE.upstream.always(Script.stall());
    for (boolean reset : List.of(true, false)) {
      RawClient client = client();
      client.send(chat("small"));
      Recorded request = SCENE.upstream.take();
      if (reset) {
        client.reset();
      } else {
        client.close();
      }
      request.awaitGone();
    }
  }

  @Test
  void aSlotIsFreeOnceTheUpstreamHasFailed() {
    List<Script> failures =
        List.of(
            Script.close(),
            Script.reset(),
            Script.raw("nonsense\r\n\r\n").thenClose(),
            Script.json(500, "{}"),
            Script.json(400, "{}"),
            Script.json("{}"),
            Script.raw(Script.streamHead()).thenClose(),
            Script.raw(Script.streamHead() + Script.chunks(EVENT)).thenClose(),
            Script.raw(Script.streamHead() + Script.chunks(EVENT)).thenReset(),
            Script.raw(Script.streamHead() + Script.chunks(EVENT) + "zz\r\n"));
    for (Script failure : failures) {
      SCENE.upstream.always(failure);
      for (int i = 0; i < 3; i++) {
        int status = SCENE.exchange(stream(CHAT, "small").key(FREE)).status();
        assertThat(status).isIn(200, 400, 502);
      }
    }
  }

  @Test
  void aSlotIsFreeOnceAConnectionWasRefusedOrDidNotComeAbout() {
    for (int i = 0; i < 5; i++) {
      assertError(SCENE.exchange(stream(CHAT, "refusing")), 503);
    }
    assertError(SCENE.exchange(stream(CHAT, "silent")), 503);
  }

  @Test
  void aSlotIsFreeOnceAnUpstreamHasRunOutOfTime() {
    SCENE.upstream.always(Script.stall());
    assertError(SCENE.exchange(stream(CHAT, "impatient")), 502);
    SCENE.upstream.always(RUNNING);
    assertThat(SCENE.exchange(stream(CHAT, "restless")).ending()).isEqualTo(Ending.BROKEN_OFF);
  }

  @Test
  void whatEndedAStreamIsCounted() {
    Metrics before = SCENE.metricsAtRest();
    SCENE.upstream.always(Script.stream(EVENT, DONE));
    SCENE.exchange(stream(CHAT, "small"));
    SCENE.upstream.always(Script.raw(Script.streamHead() + Script.chunks(EVENT)).thenClose());
    SCENE.exchange(stream(CHAT, "small"));
    SCENE.upstream.always(RUNNING);
    running(PRO).reset();
    SCENE.exchange(stream(CHAT, "restless"));

    SCENE
        .sluice()
        .awaitMetrics(
            "one more stream of each cause",
            after ->
                ended(after, "small", "done") == ended(before, "small", "done") + 1
                    && ended(after, "small", "upstream") == ended(before, "small", "upstream") + 1
                    && ended(after, "small", "client") == ended(before, "small", "client") + 1
                    && ended(after, "restless", "timeout")
                        == ended(before, "restless", "timeout") + 1);
  }

  private static double ended(Metrics metrics, String model, String cause) {
    return metrics.sum(
        "sluice_streams_ended_total", "model=\"" + model + "\"", "cause=\"" + cause + "\"");
  }
}
