package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Errors.assertErrorEvent;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import dev.sluice.testing.Wire;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A stream may end anywhere: whole events come through, and then the truth about its end. */
class BrokenStreamIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String FIRST = "data: 1\n\n";
  private static final String ENDING = ": bye\n\n";
  private static final int MEGABYTE = 1 << 20;

  /** A stream of the operation, event by event, with something behind its terminator. */
  private static String[] events(String path) {
    String terminator = path.equals(MESSAGES) ? Script.MESSAGE_STOP : Script.DONE;
    return new String[] {
      FIRST, "event: x\r\ndata: 2\r\n\r\n", ": c\rdata: 3\r\r", terminator, ENDING
    };
  }

  private static String all(String path) {
    return String.join("", events(path));
  }

  private static String splitChunks(String path) {
    String all = all(path);
    return Script.streamHead()
        + Script.chunks(all.substring(0, 5), all.substring(5, 30), all.substring(30))
        + "0\r\n\r\n";
  }

  private static String withLength(String path) {
    String all = all(path);
    return Script.head(200, "text/event-stream")
        + "Content-Length: "
        + all.length()
        + "\r\n\r\n"
        + all;
  }

  private static void assertCutAnywhere(String wire, Request request, String path) {
    boolean named = path.equals(MESSAGES);
    String all = all(path);
    String toTheTerminator = all.substring(0, all.length() - ENDING.length());
    int wholes = 0;
    for (int cut = 1; cut < wire.length(); cut++) {
      SCENE.upstream.answers(Script.raw(wire.substring(0, cut)).thenClose());
      Answer answer = SCENE.exchange(request);
      if (answer.status() != 200) {
        assertError(answer, 502);
        assertThat(cut).isLessThan(wire.length() - all.length() + FIRST.length());
      } else if (answer.text().contains(toTheTerminator)) {
        wholes++;
        assertThat(answer.text()).as("cut at %s", cut).doesNotContain("error");
        assertThat(all).as("cut at %s", cut).startsWith(answer.text().stripTrailing());
        assertThat(answer.ending()).as("cut at %s", cut).isIn(Ending.WHOLE, Ending.UNTIL_CLOSE);
      } else {
        assertThat(answer.ending()).as("cut at %s", cut).isNotEqualTo(Ending.WHOLE);
        assertErrorEvent(answer.text(), named, 502, answer.header("x-request-id"));
        String before =
            answer.text().substring(0, answer.text().indexOf(named ? "event: error" : "data: {"));
        assertThat(all).as("cut at %s", cut).startsWith(before);
      }
    }
    assertThat(wholes).isBetween(ENDING.length(), 4 * ENDING.length());
    SCENE.upstream.answers(Script.raw(wire));
    assertThat(SCENE.exchange(request).text()).isEqualTo(all);
  }

  @Test
  void aChunkedStreamMayBeCutAtAnyByte() {
    String aChunkAnEvent = Script.streamHead() + Script.chunks(events(CHAT)) + "0\r\n\r\n";

    assertCutAnywhere(aChunkAnEvent, stream(CHAT, "small"), CHAT);
  }

  @Test
  void aStreamWhoseChunksSplitEventsMayBeCutAtAnyByte() {
    assertCutAnywhere(splitChunks(MESSAGES), stream(MESSAGES, "small"), MESSAGES);
  }

  @Test
  void aStreamForAnHttp10ClientMayBeCutAtAnyByte() {
    assertCutAnywhere(splitChunks(CHAT), stream(CHAT, "small").http10(), CHAT);
  }

  @Test
  void aStreamOfDeclaredLengthMayBeCutAtAnyByte() {
    assertCutAnywhere(withLength(MESSAGES), stream(MESSAGES, "small"), MESSAGES);
  }

  @Test
  void anEventTooLargeToBeHeldIsEndedBeforeTheErrorEvent() {
    String large = "data: " + "x".repeat(300_000);
    for (String wire :
        new String[] {
          Script.streamHead() + Script.chunks("data: 1\n\n", large),
          Script.streamHead() + "7a120\r\ndata: 1\n\n" + large,
          Script.head(200, "text/event-stream")
              + "Content-Length: 900000\r\n\r\ndata: 1\n\n"
              + large
        }) {
      SCENE.upstream.answers(Script.raw(wire).thenPause(Duration.ofMillis(50)).thenClose());

      Answer answer = SCENE.exchange(stream(CHAT, "small"));

      assertThat(answer.ending()).isEqualTo(Ending.BROKEN_OFF);
      assertThat(answer.text()).startsWith("data: 1\n\ndata: xxx");
      assertErrorEvent(answer.text(), false, 502, answer.header("x-request-id"));
    }
  }

  private static String megabytes(int count) {
    String event = "data: " + "y".repeat(1000) + "\n\n";
    return event.repeat(count * MEGABYTE / event.length());
  }

  @Test
  void aClientThatReadsLateGetsAllOfAStreamWhoseUpstreamHasClosedMeanwhile() {
    String events = megabytes(8) + Script.DONE;
    SCENE.upstream.answers(
        Script.raw(
                Script.head(200, "text/event-stream", "Connection: close")
                    + "Transfer-Encoding: chunked\r\n\r\n"
                    + Wire.chunk(events)
                    + "0\r\n\r\n")
            .thenClose());
    assertLateReaderGets(events, Ending.WHOLE);
  }

  @Test
  void aClientThatReadsLateGetsAllOfAStreamThatEndsWithItsConnection() {
    String events = megabytes(8) + Script.DONE;
    SCENE.upstream.answers(
        Script.raw(Script.head(200, "text/event-stream") + "\r\n" + events).thenClose());
    assertLateReaderGets(events, Ending.WHOLE);
  }

  private static void assertLateReaderGets(String events, Ending ending) {
    try (RawClient client = RawClient.connect(SCENE.sluice().port(), 16 << 10)) {
      client.send(stream(CHAT, "small"));
      assertThat(client.readHead().status()).isEqualTo(200);
      Eventually.pause(Duration.ofMillis(300));
      StringBuilder body = new StringBuilder();
      assertThat(client.readRest(body)).isEqualTo(ending);
      assertThat(body.toString().equals(events)).as("all %s bytes", events.length()).isTrue();
    }
  }

  @Test
  void aClientThatReadsLateIsToldOfABreak() {
    String events = megabytes(8);
    SCENE.upstream.answers(
        Script.raw(Script.streamHead() + Wire.chunk(events) + "5\r\nda").thenClose());
    try (RawClient client = RawClient.connect(SCENE.sluice().port(), 16 << 10)) {
      client.send(stream(CHAT, "small"));
      Answer head = client.readHead();
      Eventually.pause(Duration.ofMillis(300));
      StringBuilder body = new StringBuilder();
      assertThat(client.readRest(body)).isEqualTo(Ending.BROKEN_OFF);
      assertThat(body.length()).isGreaterThan(events.length());
      assertErrorEvent(body.toString(), false, 502, head.header("x-request-id"));
    }
  }
}
