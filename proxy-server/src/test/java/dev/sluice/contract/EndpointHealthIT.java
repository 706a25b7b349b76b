package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.chat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.DeadPorts;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Script;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Endpoints that are left out, as callers and operators see it. */
class EndpointHealthIT {
  private static final DeadPorts DEAD = new DeadPorts();

  @RegisterExtension static final Scene SCENE = scene();

  private static Scene scene() {
    Scene scene = new Scene();
    String live = "{url: \"http://127.0.0.1:" + scene.upstream.port() + "\"}";
    String dead = "{url: \"http://127.0.0.1:" + DEAD.refusing() + "\"}";
    return scene
        .model("probed: {upstreams: [" + live + "], probe: {interval: 100ms, timeout: 1m}}")
        .model("half-dead: {upstreams: [" + live + "," + dead + "]}");
  }

  @AfterAll
  static void close() {
    DEAD.close();
  }

  @AfterEach
  void theUpstreamIsWellAgain() {
    SCENE.upstream.answers();
    awaitUp("probed", 1);
  }

  private static void awaitUp(String model, int endpoints) {
    SCENE
        .sluice()
        .awaitMetrics(
            model + ": " + endpoints + " endpoints used",
            metrics -> metrics.sum("sluice_endpoint_up", "model=\"" + model + "\"") == endpoints);
  }

  @Test
  void aModelWhoseProbesFailIsUnavailableUntilTheyGoWell() {
    SCENE.upstream.always(Script.json(500, "{}"));
    awaitUp("probed", 0);

    Answer refused = SCENE.exchange(chat("probed"));
    assertError(refused, 503);
    assertThat(Integer.parseInt(refused.header("retry-after"))).isBetween(1, 5);
    SCENE.upstream.answers();
    awaitUp("probed", 1);
    assertThat(SCENE.exchange(chat("probed")).status()).isEqualTo(200);
    assertThat(
            SCENE
                .sluice()
                .metrics()
                .sum("sluice_endpoint_ejections_total", "model=\"probed\"", "cause=\"probe\""))
        .isEqualTo(1);
    assertThat(SCENE.sluice().stderr())
        .anyMatch(line -> line.contains("model probed: endpoint") && line.contains("status 500"))
        .anyMatch(line -> line.contains("model probed: endpoint") && line.contains("well again"));
  }

  @Test
  void anEndpointThatIsDeadIsLeftOutAndNoCallerNotices() {
    Eventually.within(
        Scene.END,
        "the dead endpoint is ejected",
        () -> {
          assertThat(SCENE.exchange(chat("half-dead")).status()).isEqualTo(200);
          return SCENE
                  .sluice()
                  .metrics()
                  .sum(
                      "sluice_endpoint_ejections_total",
                      "model=\"half-dead\"",
                      "endpoint=\"127.0.0.1:" + DEAD.refusing() + "\"",
                      "cause=\"consecutive_failures\"")
              > 0;
        });
    assertThat(SCENE.sluice().stderr())
        .anyMatch(line -> line.contains("model half-dead: endpoint 127.0.0.1:" + DEAD.refusing()));
  }
}
