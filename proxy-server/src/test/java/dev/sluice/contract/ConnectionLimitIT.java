package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.list;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.RawClient;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Connections past the bound are told so, and the others go on. */
class ConnectionLimitIT {
  private static final int MOST = 4;

  @RegisterExtension static final Scene SCENE = new Scene().maxConnections(MOST);

  @Test
  void aConnectionTooManyIs503AndClosedUntilAnotherOneEnds() {
    List<RawClient> open = new ArrayList<>();
    try {
      for (int i = 0; i < MOST; i++) {
        open.add(SCENE.client());
        Scene.assertOpen(open.get(i));
      }
      for (int i = 0; i < 3; i++) {
        try (RawClient surplus = SCENE.client()) {
          Answer answer = surplus.exchange(list().without("Authorization"));
          assertError(answer, 503);
          assertThat(answer.header("connection")).isEqualToIgnoringCase("close");
          surplus.assertClosed();
        }
      }
      open.forEach(Scene::assertOpen);
    } finally {
      open.forEach(RawClient::close);
    }
    SCENE
        .sluice()
        .awaitMetrics(
            "every connection is gone",
            metrics -> metrics.sum("sluice_downstream_connections") == 0);
    assertThat(SCENE.exchange(list()).status()).isEqualTo(200);
  }
}
