package dev.sluice.contract;

import static dev.sluice.contract.Scene.ADMIN_TOKEN;
import static dev.sluice.contract.Scene.list;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Request;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** With a token, nobody changes anything without it, not even from this machine. */
class AdminTokenIT {
  @RegisterExtension
  static final Scene SCENE = new Scene().setting("admin-token-env: SLUICE_TEST_TOKEN");

  private static final Request MAINTAIN = Request.of("POST", "/maintenance?for=1h");

  @Test
  void withoutTheTokenNothingChanges() {
    Answer refused = SCENE.sluice().admin(MAINTAIN);
    assertThat(refused.status()).isEqualTo(401);
    assertThat(refused.header("www-authenticate")).isEqualTo("Bearer");
    assertThat(SCENE.sluice().admin(MAINTAIN.key(ADMIN_TOKEN + "x")).status()).isEqualTo(401);

    assertThat(SCENE.exchange(list()).status()).isEqualTo(200);
    assertThat(SCENE.sluice().admin("/maintenance").text()).isEqualTo("{\"maintenance\":[]}\n");
  }

  @Test
  void withTheTokenItDoesAndTheTokenIsNeverLogged() {
    assertThat(SCENE.sluice().admin(MAINTAIN.key(ADMIN_TOKEN)).status()).isEqualTo(200);
    assertThat(SCENE.exchange(list()).status()).isEqualTo(503);

    Request end = Request.of("POST", "/maintenance?for=0s");
    assertThat(SCENE.sluice().admin(end.key(ADMIN_TOKEN)).status()).isEqualTo(200);
    assertThat(SCENE.exchange(list()).status()).isEqualTo(200);
    assertThat(SCENE.sluice().stderr()).noneMatch(line -> line.contains(ADMIN_TOKEN));
    assertThat(SCENE.sluice().stdout()).noneMatch(line -> line.contains(ADMIN_TOKEN));
  }

  @Test
  void whatShowsIsOpen() {
    for (String path : new String[] {"/metrics", "/healthz", "/readyz", "/drain", "/endpoints"}) {
      assertThat(SCENE.sluice().admin(path).status()).as(path).isEqualTo(200);
    }
  }
}
