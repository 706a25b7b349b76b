package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Errors.assertErrorEvent;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.assertOpen;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Named.named;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Conversation;
import dev.sluice.testing.DeadPorts;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Recorded;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import dev.sluice.testing.ScriptedUpstream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * When an endpoint fails, its request goes to another one where that is honest, and nowhere where
 * it is not; each deadline ends in its own way. Each test has a model of its own, of whose
 * endpoints nothing is known when it begins.
 */
class ResilienceIT {
  private static final int FRESH_MODELS = 60;

  private static final ScriptedUpstream ONE = ScriptedUpstream.start();
  private static final ScriptedUpstream TWO = ScriptedUpstream.start();
  private static final ScriptedUpstream THREE = ScriptedUpstream.start();
  private static final List<ScriptedUpstream> ALL = List.of(ONE, TWO, THREE);

  /** Of the model with probes, which would come to the others in the middle of a test. */
  private static final ScriptedUpstream PROBED_ONE = ScriptedUpstream.start();

  private static final ScriptedUpstream PROBED_TWO = ScriptedUpstream.start();
  private static final DeadPorts DEAD = new DeadPorts();

  private static final String EVENT = "data: {\"n\":1}\n\n";
  private static final Script GOOD_JSON = Script.json("{\"good\":true}");
  private static final Script GOOD_STREAM =
      Script.stream(EVENT, "event: message_stop\ndata: {}\n\n", "data: [DONE]\n\n");
  private static final String GOOD_EVENTS =
      EVENT + "event: message_stop\ndata: {}\n\ndata: [DONE]\n\n";
  private static final String BEGUN = Script.streamHead() + Script.chunks(EVENT);

  @RegisterExtension static final Scene SCENE = scene();

  private static int taken;

  private static Scene scene() {
    Scene scene =
        new Scene()
            .model("refused: {upstreams: [" + at(DEAD.refusing()) + ", " + at(ONE.port()) + "]}")
            .model(
                "unanswered: {timeouts: {connect: 300ms}, upstreams: ["
                    + at(DEAD.silent())
                    + ", "
                    + at(ONE.port())
                    + "]}")
            .model("one-attempt: {attempts: 1, upstreams: " + two() + "}")
            .model("two-of-three: {upstreams: " + three() + "}")
            .model("three-of-three: {attempts: 3, upstreams: " + three() + "}")
            .model("five-of-two: {attempts: 5, upstreams: " + two() + "}")
            .model("left-alone: {upstreams: " + two() + "}")
            .model("ejected: {upstreams: " + two() + "}")
            .model(
                "probed: {probe: {interval: 2s, healthy-after: 1, unhealthy-after: 1}, upstreams: ["
                    + at(PROBED_ONE.port())
                    + ", "
                    + at(PROBED_TWO.port())
                    + "]}")
            .model("no-connect: {timeouts: {connect: 1s}, upstreams: [" + at(DEAD.silent()) + "]}")
            .model("first-byte: {timeouts: {first-byte: 1s}, upstreams: " + two() + "}")
            .model("idle: {timeouts: {idle: 1s}, upstreams: " + two() + "}")
            .model("total: {timeouts: {total: 1s}, upstreams: " + two() + "}");
    for (int i = 0; i < FRESH_MODELS; i++) {
      scene.model("fresh-" + i + ": {upstreams: " + two() + "}");
    }
    return scene;
  }

  private static String at(int port) {
    return "{url: 'http://127.0.0.1:" + port + "'}";
  }

  private static String two() {
    return "[" + at(ONE.port()) + ", " + at(TWO.port()) + "]";
  }

  private static String three() {
    return "[" + at(ONE.port()) + ", " + at(TWO.port()) + ", " + at(THREE.port()) + "]";
  }

  @AfterAll
  static void close() {
    ALL.forEach(ScriptedUpstream::close);
    PROBED_ONE.close();
    PROBED_TWO.close();
    DEAD.close();
    ALL.forEach(ScriptedUpstream::assertNoFaults);
  }

  @BeforeEach
  void forget() {
    ALL.forEach(ScriptedUpstream::answers);
  }

  private static String fresh() {
    return "fresh-" + taken++;
  }

  private static Named<Script> script(String name, Script script) {
    return named(name, script);
  }

  /** These scripts answer the next requests, whichever upstreams they come to. */
  private static void answers(Script... scripts) {
    Queue<Script> next = new ConcurrentLinkedQueue<>(List.of(scripts));
    for (ScriptedUpstream upstream : ALL) {
      upstream.always(
          conversation -> {
            Script script = next.poll();
            if (script == null) {
              throw new AssertionError("one request too many: " + conversation.request().line());
            }
            script.answer(conversation);
          });
    }
  }

  private static int asked() {
    return ALL.stream().mapToInt(ScriptedUpstream::waiting).sum();
  }

  private static Map<String, Object> logOf(Answer answer) {
    String id = "\"" + answer.header("x-request-id") + "\"";
    String[] line = new String[1];
    Eventually.that(
        "a line of " + id,
        () -> {
          for (String each : SCENE.sluice().stdout()) {
            line[0] = each.contains(id) ? each : line[0];
          }
          return line[0] != null;
        });
    return Json.object(line[0]);
  }

  private static void assertCounted(String meter, String model, String reason) {
    SCENE
        .sluice()
        .awaitMetrics(
            meter + " of " + model + " by " + reason,
            metrics ->
                metrics.sum(meter, "model=\"" + model + "\"", "reason=\"" + reason + "\"") >= 1);
  }

  private static Stream<Request> requests(String model) {
    return Stream.of(chat(model), stream(CHAT, model), stream(MESSAGES, model));
  }

  private static boolean isStream(Request request) {
    return request.body().contains("\"stream\":true");
  }

  private static Script good(Request request) {
    return isStream(request) ? GOOD_STREAM : GOOD_JSON;
  }

  private static void assertGood(Answer answer, Request request) {
    assertThat(answer.status()).as("status of %s", answer).isEqualTo(200);
    assertThat(answer.text()).isEqualTo(isStream(request) ? GOOD_EVENTS : "{\"good\":true}");
    assertThat(answer.ending()).isEqualTo(Ending.WHOLE);
  }

  // What goes to another endpoint.

  static Stream<Named<Script>> honestlyRetried() {
    return Stream.of(
        script("upstream_closed", Script.close()),
        script("upstream_closed", Script.reset()),
        script("upstream_closed", Script.raw("HTTP/1.1 200 OK\r\nContent-").thenReset()),
        script("upstream_bad_gateway", Script.json(502, "{}")),
        script("upstream_unavailable", Script.json(503, "{}")),
        script("upstream_rate_limited", Script.json(429, "{}")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("honestlyRetried")
  void theRequestGoesToAnotherEndpointAndTheCallerKnowsNothingOfIt(Script failure) {
    // Each with a model of its own: a pooled connection that is closed is no attempt that failed.
    List<Request> requests =
        List.of(chat(fresh()), stream(CHAT, fresh()), stream(MESSAGES, fresh()));
    for (Request request : requests) {
      answers(failure, good(request));
      try (RawClient client = SCENE.client()) {
        Answer answer = client.exchange(request);

        assertGood(answer, request);
        assertOpen(client);
        Recorded one = ONE.take();
        Recorded two = TWO.take();
        assertThat(two.line()).isEqualTo(one.line());
        assertThat(two.body()).isEqualTo(one.body()).isEqualTo(request.body());
        assertThat(two.header("x-request-id")).isEqualTo(one.header("x-request-id"));
        assertThat(logOf(answer)).containsEntry("attempts", 2).containsEntry("status", 200);
        assertThat(logOf(answer).get("reason")).isNull();
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"refused", "unanswered"})
  void whatCouldNotBeConnectedGoesToAnotherEndpoint(String model) {
    String reason = model.equals("refused") ? "upstream_connect" : "upstream_connect_timeout";
    Eventually.within(
        Duration.ofSeconds(30),
        "the dead endpoint was tried, too",
        () -> {
          for (Request request : requests(model).toList()) {
            answers(good(request));
            assertGood(SCENE.exchange(request), request);
          }
          return SCENE
                  .sluice()
                  .metrics()
                  .sum(
                      "sluice_retries_total",
                      "model=\"" + model + "\"",
                      "reason=\"" + reason + "\"")
              > 0;
        });
  }

  @Test
  void untilTheFirstEventAStreamMayFailOver() {
    List<Script> beginnings =
        List.of(
            Script.raw(Script.streamHead()).thenReset(),
            Script.raw(Script.streamHead()).thenClose(),
            Script.raw(Script.streamHead() + Script.chunks("data: {\"half\"")).thenReset(),
            Script.raw(Script.streamHead() + "20\r\ndata: {\"half\":").thenClose());
    for (Script beginning : beginnings) {
      String model = fresh();
      answers(beginning, GOOD_STREAM);
      Answer answer = SCENE.exchange(stream(CHAT, model));

      assertGood(answer, stream(CHAT, model));
      assertThat(asked()).isEqualTo(2);
      assertCounted("sluice_retries_total", model, "upstream_closed");
    }
  }

  // What does not.

  static Stream<Named<Script>> neverRetried() {
    return Stream.of(
        script("500", Script.json(500, "{}")),
        script("504", Script.json(504, "{}")),
        script("401", Script.json(401, "{}")),
        script("404", Script.json(404, "{}")),
        script("noise", Script.raw("\0noise\r\n\r\n").thenClose()),
        script("wrong type", Script.raw(Script.head(200, "text/html") + "\r\n").thenClose()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("neverRetried")
  void afterAFailureThatMayHaveDoneTheWorkNobodyElseIsAsked(Script failure) {
    for (boolean streaming : List.of(false, true)) {
      String model = fresh();
      answers(failure, GOOD_JSON);

      Answer answer = SCENE.exchange(streaming ? stream(CHAT, model) : chat(model));

      assertError(answer, 502);
      assertThat(asked()).isEqualTo(1);
      assertThat(logOf(answer)).containsEntry("attempts", 1);
    }
  }

  @Test
  void aRequestThatTheUpstreamRefusesIsAskedOnce() {
    for (int status : List.of(400, 413, 415, 422)) {
      String model = fresh();
      answers(Script.json(status, "{\"error\":{\"message\":\"no\"}}"), GOOD_JSON);

      assertError(SCENE.exchange(chat(model)), status == 413 ? 413 : 400);
      assertThat(asked()).isEqualTo(1);
    }
  }

  @Test
  void onceAnEventWasSentNothingIsTriedAgain() {
    for (Script end : List.of(Script.close(), Script.reset())) {
      for (String path : List.of(CHAT, MESSAGES)) {
        String model = fresh();
        answers(Script.raw(BEGUN).then(end), GOOD_STREAM);

        Answer answer = SCENE.exchange(stream(path, model));

        assertThat(answer.ending()).isEqualTo(Ending.BROKEN_OFF);
        assertThat(answer.text()).startsWith(EVENT);
        assertErrorEvent(answer.text(), path.equals(MESSAGES), 502, answer.header("x-request-id"));
        assertThat(asked()).isEqualTo(1);
        assertThat(logOf(answer))
            .containsEntry("reason", "upstream_closed")
            .containsEntry("end", "upstream")
            .containsEntry("attempts", 1);
      }
    }
  }

  // How often.

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {"one-attempt, 1", "two-of-three, 2", "three-of-three, 3", "five-of-two, 2"})
  void noMoreEndpointsAreAskedThanAttemptsAndNoneTwice(String modelAndAttempts) {
    String model = modelAndAttempts.split(", ", 2)[0];
    int attempts = Integer.parseInt(modelAndAttempts.split(", ", 2)[1]);
    answers(Script.json(502, "{}"), Script.json(502, "{}"), Script.json(502, "{}"));

    Answer answer = SCENE.exchange(chat(model));

    assertError(answer, 502);
    assertThat(asked()).isEqualTo(attempts);
    assertThat(ALL).allMatch(upstream -> upstream.waiting() <= 1);
    assertThat(logOf(answer))
        .containsEntry("attempts", attempts)
        .containsEntry("reason", "upstream_bad_gateway");
  }

  // Endpoints that are left alone.

  @Test
  void anEndpointIsLeftAloneForAsLongAsItAsked() {
    ONE.always(Script.json(503, "{}", "Retry-After: 600"));
    TWO.always(GOOD_JSON);
    askUntilOneWasAsked("left-alone", 1);

    for (int i = 0; i < 30; i++) {
      assertGood(SCENE.exchange(chat("left-alone")), chat("left-alone"));
    }
    assertThat(ONE.waiting()).isEqualTo(1);
  }

  private static void askUntilOneWasAsked(String model, int times) {
    Eventually.within(
        Duration.ofSeconds(30),
        model + " was asked for " + times + " times",
        () -> {
          SCENE.exchange(chat(model));
          return ONE.waiting() == times;
        });
  }

  @Test
  void anEndpointThatFailsFiveTimesInARowIsNotAskedAgain() {
    ONE.always(Script.json(500, "{}"));
    TWO.always(GOOD_JSON);
    askUntilOneWasAsked("ejected", 5);

    for (int i = 0; i < 30; i++) {
      assertGood(SCENE.exchange(chat("ejected")), chat("ejected"));
    }
    assertThat(ONE.waiting()).isEqualTo(5);
  }

  @Test
  void withoutAHealthyEndpointTheAnswerIs503WithATrueRetryAfter() {
    Script unwell = Script.json(500, "{}");
    PROBED_ONE.always(unwell);
    PROBED_TWO.always(unwell);
    Answer[] turnedAway = new Answer[1];
    Eventually.within(
        Duration.ofSeconds(30),
        "no endpoint is healthy",
        () -> {
          turnedAway[0] = SCENE.exchange(chat("probed"));
          return turnedAway[0].status() == 503;
        });
    assertError(turnedAway[0], 503);
    assertThat(logOf(turnedAway[0]))
        .containsEntry("reason", "upstream_no_endpoint")
        .containsEntry("attempts", 0);
    assertCounted("sluice_requests_total", "probed", "upstream_no_endpoint");
    int seconds = Integer.parseInt(turnedAway[0].header("retry-after"));
    assertThat(seconds).isBetween(1, 3);

    PROBED_ONE.always(GOOD_JSON);
    PROBED_TWO.always(GOOD_JSON);
    Eventually.that("the next probe", () -> SCENE.exchange(chat("probed")).status() == 200);
  }

  // Deadlines.

  private static Answer late(String model, boolean streaming, String reason) {
    long start = System.nanoTime();
    Answer answer = SCENE.exchange(streaming ? stream(CHAT, model) : chat(model));
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(990));
    assertCounted("sluice_requests_total", model, reason);
    assertThat(logOf(answer)).containsEntry("reason", reason);
    return answer;
  }

  private static void assertBrokenOffLate(Answer answer) {
    assertThat(answer.ending()).isEqualTo(Ending.BROKEN_OFF);
    assertThat(answer.text()).startsWith(EVENT);
    assertErrorEvent(answer.text(), false, 502, answer.header("x-request-id"));
    assertThat(logOf(answer)).containsEntry("end", "timeout").containsEntry("attempts", 1);
  }

  /** The same again and again until Sluice has gone, or should have long ago. */
  private static void goOn(Conversation conversation, String wire) throws IOException {
    for (int i = 0; i < 300; i++) {
      conversation.pause(Duration.ofMillis(100));
      conversation.write(wire);
    }
    conversation.reset();
  }

  @Test
  void aConnectionThatIsNotMadeInTimeIs503() {
    assertError(late("no-connect", false, "upstream_connect_timeout"), 503);
  }

  @ParameterizedTest(name = "streaming: {0}")
  @ValueSource(booleans = {false, true})
  void anAnswerThatDoesNotBeginInTimeIs502AndNotTriedAgain(boolean streaming) {
    answers(streaming ? Script.raw(Script.streamHead()).thenStall() : Script.stall(), GOOD_JSON);

    assertError(late("first-byte", streaming, "upstream_first_byte_timeout"), 502);
    assertThat(asked()).isEqualTo(1);
  }

  @Test
  void aFirstEventThatTricklesInIsNotInTime() {
    answers(
        conversation -> {
          conversation.write(Script.streamHead());
          goOn(conversation, Script.chunks("d"));
        });

    assertError(late("first-byte", true, "upstream_first_byte_timeout"), 502);
  }

  @Test
  void aStreamThatFallsSilentIsBrokenOffThoughCommentsCome() {
    answers(
        conversation -> {
          conversation.write(BEGUN);
          goOn(conversation, Script.chunks(": still here\n\n"));
        });

    assertBrokenOffLate(late("idle", true, "upstream_idle_timeout"));
  }

  @Test
  void anAnswerThatFallsSilentInItsMiddleIs502() {
    answers(
        Script.raw(Script.head(200, "application/json") + "Content-Length: 9\r\n\r\n{\"a")
            .thenStall(),
        GOOD_JSON);

    assertError(late("idle", false, "upstream_idle_timeout"), 502);
    assertThat(asked()).isEqualTo(1);
  }

  @Test
  void aStreamThatTakesLongerThanItMayAsAWholeIsBrokenOff() {
    answers(
        conversation -> {
          conversation.write(BEGUN);
          goOn(conversation, Script.chunks(EVENT));
        });

    assertBrokenOffLate(late("total", true, "exchange_timeout"));
  }

  @Test
  void theWholeExchangeIsBoundedOverAllItsAttempts() {
    answers(
        conversation -> {
          conversation.pause(Duration.ofMillis(600));
          conversation.reset();
        },
        Script.stall());

    Answer answer = late("total", false, "exchange_timeout");

    assertError(answer, 502);
    assertThat(logOf(answer)).containsEntry("attempts", 2);
  }
}
