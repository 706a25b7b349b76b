package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Script;
import dev.sluice.testing.Wire;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A client that does not read stops its upstream, and nothing piles up in between. */
@Tag("alone")
class SlowReaderIT {
  @RegisterExtension
  static final Scene SCENE =
      new Scene()
          .jvmFlag("-Dio.netty.leakDetection.level=disabled")
          // Garbage is no growth: the heap is given little room for it.
          .jvmFlag("-Xmx48m");

  /** As a chunk 20,011 bytes, a prime: where a read ends says nothing of where an event does. */
  private static final String EVENT = "data: " + "x".repeat(20_003 - 8) + "\n\n";

  private static final int EVENTS = 200_000_000 / EVENT.length();

  /** Water marks and the buffers of four sockets' ends, which the system may grow to megabytes. */
  private static final long MOST_IN_FLIGHT = 24L << 20;

  private static final long MOST_GROWTH = 24L << 20;

  @Test
  void twoHundredMegabytesForAClientThatReadsNothingDoNotGrowTheProcess() {
    AtomicLong written = new AtomicLong();
    SCENE.upstream.answers(
        Script.stream(EVENT, Script.DONE),
        conversation -> {
          conversation.write(Script.streamHead());
          for (int i = 0; i < EVENTS; i++) {
            conversation.write(Wire.chunk(EVENT));
            written.addAndGet(EVENT.length());
          }
          conversation.write(Script.chunks(Script.DONE) + "0\r\n\r\n");
        });
    SCENE.exchange(stream(CHAT, "small"));
    long before = SCENE.sluice().residentBytes();
    try (RawClient client = RawClient.connect(SCENE.sluice().port(), 32 << 10)) {
      client.send(stream(CHAT, "small"));
      awaitStandstill(written);

      assertThat(written.get()).isPositive().isLessThan(MOST_IN_FLIGHT);
      assertThat(SCENE.sluice().residentBytes() - before).isLessThan(MOST_GROWTH);
      assertThat(SCENE.exchange(list()).status()).isEqualTo(200);

      assertThat(client.readHead().status()).isEqualTo(200);
      assertThat(client.skipRest(Ending.WHOLE))
          .isEqualTo((long) EVENT.length() * EVENTS + Script.DONE.length());
      assertThat(SCENE.sluice().residentBytes() - before).isLessThan(MOST_GROWTH + (48 << 20));
    }
  }

  private static void awaitStandstill(AtomicLong written) {
    long[] last = new long[1];
    Eventually.that(
        "the upstream is stopped",
        () -> {
          last[0] = written.get();
          Eventually.pause(Duration.ofMillis(500));
          return last[0] > 0 && written.get() == last[0];
        });
  }

  @Test
  void aPipeliningClientWhosePacketsEndWithinARequestDoesNotGrowTheProcess() {
    String request = list().header("X-Padding", "x".repeat(30_000)).wire();
    try (RawClient client = SCENE.client()) {
      client.send(request.substring(0, 100));
      long before = SCENE.sluice().residentBytes();
      for (int i = 0; i < 4000; i++) {
        client.send(request.substring(100) + request.substring(0, 100));
        assertThat(client.read().status()).isEqualTo(200);
      }
      assertThat(SCENE.sluice().residentBytes() - before).isLessThan(MOST_GROWTH + (48 << 20));
    }
  }

  @Test
  void aClientThatReadsNothingAndGoesFreesEverything() {
    SCENE.upstream.answers(
        conversation -> {
          conversation.write(Script.streamHead());
          while (true) {
            conversation.write(Wire.chunk(EVENT));
          }
        });
    try (RawClient client = RawClient.connect(SCENE.sluice().port(), 32 << 10)) {
      client.send(stream(CHAT, "small"));
      assertThat(client.readHead().status()).isEqualTo(200);
      client.reset();
    }
    SCENE.upstream.take().awaitGone();
    SCENE.assertAtRest();
  }
}
