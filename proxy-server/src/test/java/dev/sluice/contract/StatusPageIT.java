package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the status page tells of a real process: of its models, and of keys. */
class StatusPageIT {
  @RegisterExtension static final Scene SCENE = scene();

  private static Scene scene() {
    Scene scene = new Scene();
    String port = scene.upstream.port() + "\"}";
    return scene
        .setting("status: 127.0.0.1:0")
        .model(
            "pair: {upstreams: [{url: \"http://127.0.0.1:"
                + port
                + ", {url: \"http://localhost:"
                + port
                + "]}");
  }

  private static Answer ask(Request request) {
    try (RawClient client = RawClient.connect(SCENE.sluice().statusPort())) {
      return client.exchange(request.header("Connection", "close"));
    }
  }

  private static Map<String, Object> model(String id) {
    return Json.objects(ask(Request.get("/status.json")).json(), "models").stream()
        .filter(model -> id.equals(model.get("id")))
        .findFirst()
        .orElseThrow();
  }

  private static void await(String id, String availability) {
    Eventually.that(
        id + " is " + availability, () -> availability.equals(model(id).get("availability")));
  }

  private static void operate(String target) {
    assertThat(SCENE.sluice().admin(Request.of("POST", target)).status()).isEqualTo(200);
  }

  @AfterEach
  void everythingIsBackInService() {
    operate("/maintenance?for=0s");
    operate("/maintenance?for=0s&model=small");
    operate("/endpoints/localhost:" + SCENE.upstream.port() + "/restore");
    operate("/endpoints/127.0.0.1:" + SCENE.upstream.port() + "/restore");
    SCENE.upstream.answers();
    assertThat(SCENE.exchange(chat("pair")).status()).isEqualTo(200);
    assertThat(SCENE.exchange(chat("small")).status()).isEqualTo(200);
  }

  @Test
  void aModelIsAsItsEndpointsAre() {
    await("pair", "available");
    operate("/endpoints/localhost:" + SCENE.upstream.port() + "/eject");
    await("pair", "degraded");
    operate("/endpoints/127.0.0.1:" + SCENE.upstream.port() + "/eject?model=pair");
    await("pair", "unavailable");
    assertThat(model("small")).containsEntry("availability", "available");
    Eventually.that(
        "it is history", () -> String.valueOf(model("pair").get("history")).endsWith("u"));
  }

  /** The only endpoint is never ejected, so its state alone would say that all is well. */
  @Test
  void aModelWhoseOnlyEndpointFailsIsUnavailableUntilItAnswers() {
    SCENE.upstream.always(Script.json(500, "{}"));
    for (int i = 0; i < 5; i++) {
      assertThat(SCENE.exchange(chat("small")).status()).isEqualTo(502);
    }
    await("small", "unavailable");
    SCENE.upstream.answers();
    assertThat(SCENE.exchange(chat("small")).status()).isEqualTo(200);
    await("small", "available");
  }

  @Test
  void maintenanceIsToldWithItsEnd() {
    operate("/maintenance?for=1h&model=small");

    await("small", "maintenance");
    assertThat(String.valueOf(model("small").get("until"))).matches("20\\d\\d-.*:\\d\\dZ");
    assertThat(model("pair"))
        .containsEntry("availability", "available")
        .containsEntry("until", null);
    operate("/maintenance?for=2h");
    await("pair", "maintenance");
    assertThat(model("small").get("until")).isEqualTo(model("pair").get("until"));
  }

  @Test
  void aCallerIsToldTheSlotsThatAreInUse() {
    SCENE.upstream.answers(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenStall());
    try (RawClient running = SCENE.client()) {
      running.send(stream(CHAT, "small").key(FREE));
      running.readHead();
      running.readUntil("\n\n");

      assertThat(ask(Request.of("POST", "/key").key(FREE)).text())
          .isEqualTo(
              "{\"valid\":true,\"subscription_active\":true,\"plan\":\"free\",\"models\":[\"small\"],"
                  + "\"slots_in_use\":1,\"slots\":2,\"slots_in_use_by_key\":1,\"slots_per_key\":null}\n");
    }
    assertThat(ask(Request.of("POST", "/key").key(Scene.INACTIVE)).text())
        .startsWith("{\"valid\":true,\"subscription_active\":false,");
    assertThat(ask(Request.of("POST", "/key").key(Scene.REVOKED)).text())
        .isEqualTo("{\"valid\":false,\"reason\":\"revoked\"}\n");
    assertThat(ask(Request.of("POST", "/key").key(Scene.UNKNOWN)).text())
        .isEqualTo("{\"valid\":false,\"reason\":\"unknown\"}\n");
    assertThat(SCENE.sluice().metrics().sum("sluice_status_key_checks_total", "result=\"valid\""))
        .isEqualTo(2);
  }

  @Test
  void nothingSecretAndNothingOfTheOtherListenersIsOnIt() {
    String all = ask(Request.get("/status.json")).text() + ask(Request.get("/")).text();
    assertThat(all)
        .doesNotContain("127.0.0.1:" + SCENE.upstream.port(), "localhost:", "acme", "pro", "free");
    for (String path : new String[] {"/metrics", "/config", "/endpoints", "/v1/models"}) {
      assertThat(ask(Request.get(path)).status()).isEqualTo(404);
    }
    assertThat(ask(Request.of("POST", "/drain")).status()).isEqualTo(404);
    assertThat(SCENE.sluice().admin("/status.json").status()).isEqualTo(404);
  }

  @Test
  void whileSluiceDrainsNothingIsAvailable() {
    try (Scene scene = new Scene().setting("status: 127.0.0.1:0").start();
        RawClient client = RawClient.connect(scene.sluice().statusPort())) {
      assertThat(scene.sluice().admin(Request.of("POST", "/drain?deadline=1h")).status())
          .isEqualTo(200);
      Answer answer = client.exchange(Request.get("/status.json"));
      assertThat(Json.objects(answer.json(), "models"))
          .allSatisfy(model -> assertThat(model).containsEntry("availability", "unavailable"));
    }
  }
}
