package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Errors.assertErrorEvent;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.sha256;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Recorded;
import dev.sluice.testing.Script;
import dev.sluice.testing.Wire;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * With {@code revoke: cut}, what runs for a key that is good no longer ends with the change of the
 * keys file. Each test has a key and a subscription of its own.
 */
class RevocationIT {
  private static final int OWN_KEYS = 12;
  private static final int STREAMS = 200;

  private static String current = withOwnKeys();

  @RegisterExtension
  static final Scene SCENE =
      new Scene()
          .setting("revoke: cut")
          .plan("crowd: {streams: 1000, models: [\"*\"]}")
          .keys(current);

  private static final Script STALLED =
      Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n") + "40\r\ndata: un").thenStall();

  private static int taken;

  private final String name = "own-" + taken++;
  private final String key = "sk-test-" + name;
  private final String entry = entry(name);

  private static String withOwnKeys() {
    StringBuilder subscriptions = new StringBuilder();
    StringBuilder keys = new StringBuilder();
    for (int i = 0; i < OWN_KEYS; i++) {
      subscriptions.append("  own-").append(i).append(": {plan: crowd, active: true}\n");
      keys.append(entry("own-" + i));
    }
    return Scene.keysFile().replace("keys:\n", subscriptions + "keys:\n") + keys;
  }

  private static String entry(String name) {
    return "  - {name: %s, sha256: \"%s\", subscription: %s}\n"
        .formatted(name, sha256("sk-test-" + name), name);
  }

  /** Writes a good version, and waits until it is counted. */
  private static void change(UnaryOperator<String> edit) throws IOException {
    String next = edit.apply(current);
    assertThat(next).isNotEqualTo(current);
    current = next;
    double before = SCENE.sluice().metrics().sum("sluice_keys_reload_total", "result=\"ok\"");
    Path file = SCENE.sluice().keysFile();
    Path beside = file.resolveSibling("keys.new");
    Files.writeString(beside, current);
    Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
    SCENE
        .sluice()
        .awaitMetrics(
            "the new version is taken",
            metrics -> metrics.sum("sluice_keys_reload_total", "result=\"ok\"") == before + 1);
  }

  private String revoked(String text) {
    return text.replace(entry, entry.replace("}", ", revoked: true}"));
  }

  /** One stream, of which the caller has the first event. */
  private record Running(RawClient client, boolean named, String requestId)
      implements AutoCloseable {
    static Running begin(String path, String key) {
      RawClient client = SCENE.client();
      client.send(stream(path, "small").key(key));
      Answer head = client.readHead();
      assertThat(head.status()).isEqualTo(200);
      assertThat(client.readUntil("\n\n")).isEqualTo("data: 1\n\n");
      return new Running(client, path.equals(MESSAGES), head.header("x-request-id"));
    }

    void assertCut(int status) {
      StringBuilder events = new StringBuilder("data: 1\n\n");
      assertThat(client.readRest(events)).isEqualTo(Ending.BROKEN_OFF);
      assertThat(events.toString()).doesNotContain("data: un");
      assertErrorEvent(events.toString(), named, status, requestId);
    }

    @Override
    public void close() {
      client.close();
    }
  }

  private static double cut() {
    return SCENE.sluice().metrics().sum("sluice_streams_ended_total", "cause=\"revoked\"");
  }

  @Test
  void everyStreamOfARevokedKeyEndsAndLeavesNothingBehindWhileOthersGoOn() throws IOException {
    SCENE.upstream.always(STALLED);
    double before = cut();
    List<Running> revoked = new ArrayList<>();
    List<Recorded> asked = new ArrayList<>();
    String other = "sk-test-own-" + taken++;
    try (Running kept = Running.begin(CHAT, other)) {
      Recorded keptAtUpstream = SCENE.upstream.take();
      for (int i = 0; i < STREAMS; i++) {
        revoked.add(Running.begin(i % 2 == 0 ? CHAT : MESSAGES, key));
        asked.add(SCENE.upstream.take());
      }
      change(this::revoked);

      revoked.forEach(running -> running.assertCut(401));
      asked.forEach(Recorded::awaitGone);
      SCENE
          .sluice()
          .awaitMetrics(
              "only the other stream is left",
              metrics ->
                  metrics.sum("sluice_stream_slots_in_use") == 1
                      && metrics.sum("sluice_exchanges_open") == 1
                      && metrics.sum("sluice_streams_ended_total", "cause=\"revoked\"")
                          == before + STREAMS);
      assertThat(keptAtUpstream.isGone()).isFalse();
      kept.client().reset();
      keptAtUpstream.awaitGone();
    } finally {
      revoked.forEach(Running::close);
    }
    SCENE.assertAtRest();
  }

  @ParameterizedTest
  @CsvSource({"revoked, 401", "removed, 401", "expired, 401", "replaced, 401", "inactive, 403"})
  void whateverMakesAKeyGoodNoLongerEndsItsStreamsAndAnswersWhatWaits(String how, int status)
      throws IOException {
    SCENE.upstream.answers(STALLED, Script.stall());
    try (Running running = Running.begin(CHAT, key);
        RawClient waiting = SCENE.client()) {
      SCENE.upstream.take();
      waiting.send(chat("small").key(key));
      Recorded atUpstream = SCENE.upstream.take();
      change(
          text ->
              switch (how) {
                case "revoked" -> revoked(text);
                case "removed" -> text.replace(entry, "");
                case "expired" -> text.replace(entry, entry.replace("}", ", expires: 2020-01-31}"));
                case "replaced" ->
                    text.replace(entry, entry.replace(sha256(key), sha256("sk-test-next-" + name)));
                default ->
                    text.replace(
                        name + ": {plan: crowd, active: true}",
                        name + ": {plan: crowd, active: false}");
              });

      running.assertCut(status);
      assertError(waiting.read(), status);
      atUpstream.awaitGone();
      assertLogged(running.requestId());
    }
    SCENE.assertAtRest();
  }

  private static void assertLogged(String requestId) {
    Eventually.that("logged", () -> lines(requestId).size() == 1);
    assertThat(Json.object(lines(requestId).get(0)))
        .containsEntry("status", 200)
        .containsEntry("end", "revoked");
  }

  private static List<String> lines(String requestId) {
    return SCENE.sluice().stdout().stream().filter(line -> line.contains(requestId)).toList();
  }

  @Test
  void aCallerWhoTakesNothingIsCutToo() throws IOException {
    String event = Wire.chunk("data: " + "x".repeat(20_000) + "\n\n");
    SCENE.upstream.answers(
        conversation -> {
          conversation.write(Script.streamHead());
          while (true) {
            conversation.write(event);
          }
        });
    double before = cut();
    try (RawClient client = RawClient.connect(SCENE.sluice().port(), 32 << 10)) {
      client.send(stream(CHAT, "small").key(key));
      Recorded atUpstream = SCENE.upstream.take();
      client.readHead();
      change(this::revoked);

      atUpstream.awaitGone();
      SCENE
          .sluice()
          .awaitMetrics(
              "cut",
              metrics ->
                  metrics.sum("sluice_streams_ended_total", "cause=\"revoked\"") == before + 1);
      SCENE.assertAtRest();
      assertThat(client.readRest(new StringBuilder())).isEqualTo(Ending.BROKEN_OFF);
    }
  }

  @Test
  void aWholeAnswerThatIsNotTakenIsCutToo() throws IOException {
    SCENE.upstream.answers(Script.json("{\"a\":\"" + "x".repeat(16 << 20) + "\"}"));
    try (RawClient client = RawClient.connect(SCENE.sluice().port(), 32 << 10)) {
      client.send(chat("small").key(key));
      Answer head = client.readHead();
      assertThat(head.status()).isEqualTo(200);
      change(this::revoked);

      assertLogged(head.header("x-request-id"));
      SCENE.assertAtRest();
      assertThat(client.readRest(new StringBuilder())).isEqualTo(Ending.BROKEN_OFF);
    }
  }

  @Test
  void aChangeThatIsNotAboutAKeyLeavesItsStream() throws IOException {
    SCENE.upstream.answers(STALLED);
    try (Running running = Running.begin(CHAT, key)) {
      Recorded atUpstream = SCENE.upstream.take();
      change(text -> text.replace(entry, entry.replace("}", ", expires: 2999-01-31}")));
      change(text -> text.replace("revoked: false", "revoked: true "));

      assertThat(SCENE.sluice().metrics().sum("sluice_exchanges_open")).isEqualTo(1);
      assertThat(atUpstream.isGone()).isFalse();
      running.client().reset();
      atUpstream.awaitGone();
    }
  }
}
