package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.RawClient;
import dev.sluice.testing.Script;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Exchanges past the bound are told so at once, and the others go on. */
class ExchangeLimitIT {
  private static final int MOST = 4;

  @RegisterExtension static final Scene SCENE = new Scene().maxExchanges(MOST);

  private final List<RawClient> clients = new ArrayList<>();

  @AfterEach
  void nothingIsLeft() {
    clients.forEach(RawClient::close);
    SCENE.assertAtRest();
  }

  /** As many exchanges as may be under way, streams and others, wait for their upstream. */
  private void fill() {
    SCENE.upstream.always(Script.stall());
    for (int i = 0; i < MOST; i++) {
      RawClient client = SCENE.client();
      clients.add(client);
      client.send(i % 2 == 0 ? chat("small") : stream(CHAT, "small"));
      SCENE.upstream.take();
    }
  }

  /** Closes their connections; an exchange ends before its connection is counted as closed. */
  private void empty(int connectionsLeft) {
    clients.forEach(RawClient::close);
    clients.clear();
    SCENE
        .sluice()
        .awaitMetrics(
            "every caller is gone",
            metrics -> metrics.sum("sluice_downstream_connections") == connectionsLeft);
  }

  @Test
  void anExchangeTooManyIs503WhereverItIsAndItsConnectionStaysOpen() {
    fill();
    try (RawClient surplus = SCENE.client()) {
      for (int i = 0; i < 3; i++) {
        assertError(surplus.exchange(list()), 503);
        assertError(surplus.exchange(chat("small")), 503);
        assertError(surplus.exchange(stream(CHAT, "small")), 503);
      }
      assertThat(SCENE.upstream.waiting()).isZero();
      empty(1);

      assertThat(surplus.exchange(list()).status()).isEqualTo(200);
    }
  }

  @Test
  void everyEndOfAnExchangeMakesRoomForExactlyOne() {
    List<Script> ends =
        List.of(
            Script.json("{}"),
            Script.json(400, "{}"),
            Script.json(500, "{}"),
            Script.close(),
            Script.reset(),
            Script.raw("nonsense\r\n\r\n").thenClose(),
            Script.stream("data: 1\n\n", "data: [DONE]\n\n"),
            Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenReset());
    for (Script end : ends) {
      SCENE.upstream.always(end);
      SCENE.exchange(stream(CHAT, "small"));
      SCENE.exchange(chat("small"));
    }
    SCENE.exchange(list().key(Scene.UNKNOWN));
    SCENE.exchange(chat("unheard-of"));
    for (int round = 0; round < 3; round++) {
      empty(0);
      fill();
      assertError(SCENE.exchange(list()), 503);
    }
  }
}
