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

  private static final String[] EVENTS = {
    "data: 1\n\n", "event: x\r\ndata: 2\r\n\r\n", ": c\rdata: 3\r\r", "data: 4\n\n"
  };
  private static final String ALL = String.join("", EVENTS);
  private static final int MEGABYTE = 1 << 20;

  private static final String SPLIT_CHUNKS =
      Script.streamHead()
          + Script.chunks(ALL.substring(0, 5), ALL.substring(5, 30), ALL.substring(30))
          + "0\r\n\r\n";

  private static final String LENGTH =
      Script.head(200, "text/event-stream") + "Content-Length: " + ALL.length() + "\r\n\r\n" + ALL;

  private static void assertCutAnywhere(String wire, Request request, boolean named) {
    for (int cut = 1; cut < wire.length(); cut++) {
      SCENE.upstream.answers(Script.raw(wire.substring(0, cut)).thenClose());
      Answer answer = SCENE.exchange(request);
      if (answer.status() == 200) {
        assertThat(answer.ending()).as("cut at %s", cut).isNotEqualTo(Ending.WHOLE);
        assertErrorEvent(answer.text(), named, 502, answer.header("x-request-id"));
        String before =
            answer.text().substring(0, answer.text().indexOf(named ? "event: error" : "data: {"));
        assertThat(ALL).as("cut at %s", cut).startsWith(before);
      } else {
        assertError(answer, 502);
        assertThat(cut).isLessThan(wire.length() - ALL.length() + EVENTS[0].length());
      }
    }
    SCENE.upstream.answers(Script.raw(wire));
    assertThat(SCENE.exchange(request).text()).isEqualTo(ALL);
  }

  @Test
  void aChunkedStreamMayBeCutAtAnyByte() {
    String aChunkAnEvent = Script.streamHead() + Script.chunks(EVENTS) + "0\r\n\r\n";

    assertCutAnywhere(aChunkAnEvent, stream(CHAT, "small"), false);
  }

  @Test
  void aStreamWhoseChunksSplitEventsMayBeCutAtAnyByte() {
    assertCutAnywhere(SPLIT_CHUNKS, stream(MESSAGES, "small"), true);
  }

  @Test
  void aStreamForAnHttp10ClientMayBeCutAtAnyByte() {
    assertCutAnywhere(SPLIT_CHUNKS, stream(CHAT, "small").http10(), false);
  }

  @Test
  void aStreamOfDeclaredLengthMayBeCutAtAnyByte() {
    assertCutAnywhere(LENGTH, stream(MESSAGES, "small"), true);
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
    String events = megabytes(8);
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
    String events = megabytes(8);
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
