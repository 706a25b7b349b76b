package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.RawClient;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The time bounds on a request, by the clock of the process. That on a first head counts from the
 * connection on: it is long enough for a client that goes on to send at once.
 */
class RequestTimeoutIT {
  @RegisterExtension static final Scene SCENE = new Scene().requestTimeouts("2s", "500ms");

  private static final Duration TRICKLE = Duration.ofMillis(60);

  @Test
  void aHeadThatStopsIs408() {
    try (RawClient client = SCENE.client()) {
      client.send("GET /v1/models HTTP/1.1\r\nHost: a");
      assertError(client.read(), 408);
      client.assertClosed();
    }
  }

  @Test
  void aRequestLineThatStopsIs408() {
    try (RawClient client = SCENE.client()) {
      client.send("G");
      assertError(client.read(), 408);
      client.assertClosed();
    }
  }

  @Test
  void aTrickleOfBytesDoesNotRenewTheBound() {
    try (RawClient client = SCENE.client()) {
      client.send("GET /v1/models HTTP/1.1\r\nHost: ");
      client.sendUntilAnswered("a", TRICKLE);
      assertError(client.read(), 408);
      client.assertClosed();
    }
  }

  @Test
  void theBoundHoldsForALaterRequestOfTheConnectionToo() {
    try (RawClient client = SCENE.client()) {
      Scene.assertOpen(client);
      assertThat(client.exchange(chat("small")).status()).isEqualTo(200);
      client.send(list().head().substring(0, 20));
      assertError(client.read(), 408);
      client.assertClosed();
    }
  }

  @Test
  void aConnectionWithoutAnOpenRequestIsNotUnderTheBound() {
    try (RawClient client = SCENE.client()) {
      Scene.assertOpen(client);
      client.assertSilent(Duration.ofMillis(2800));
      Scene.assertOpen(client);
    }
  }

  @Test
  void aBodyThatStopsIs408() {
    try (RawClient client = SCENE.client()) {
      client.send(chat("small").head() + "{\"model\":");
      assertError(client.read(), 408);
      client.assertClosed();
    }
    assertThat(SCENE.upstream.waiting()).isZero();
  }

  @Test
  void aTrickleOfABodyDoesNotRenewTheBound() {
    try (RawClient client = SCENE.client()) {
      client.send(chat("small").chunked(1).head());
      client.sendUntilAnswered("1\r\n{\r\n", TRICKLE);
      assertError(client.read(), 408);
      client.assertClosed();
    }
  }

  @Test
  void aClientThatIsToldToContinueAndDoesNotIs408() {
    try (RawClient client = SCENE.client()) {
      client.send(chat("small").header("Expect", "100-continue").head());
      assertThat(client.read().status()).isEqualTo(100);
      assertError(client.read(), 408);
      client.assertClosed();
    }
  }
}
