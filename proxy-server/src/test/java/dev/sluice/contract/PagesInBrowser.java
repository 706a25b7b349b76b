package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Browser;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Both pages of a real process, as people use them: by keyboard, and without loading them again.
 */
class PagesInBrowser {
  private static final String ENTER = "\uE007";
  private static final String TAB = "\uE004";
  private static final String ESCAPE = "\uE00C";

  @RegisterExtension static final Scene SCENE = scene();

  private final Browser browser = Browser.start();

  private static Scene scene() {
    Scene scene = new Scene();
    String port = scene.upstream.port() + "\"}";
    return scene
        .setting("status: 127.0.0.1:0")
        .setting("admin-token-env: SLUICE_TEST_TOKEN")
        .model(
            "pair: {upstreams: [{url: \"http://127.0.0.1:"
                + port
                + ", {url: \"http://localhost:"
                + port
                + "]}");
  }

  private static String statusPage() {
    return "http://127.0.0.1:" + SCENE.sluice().statusPort() + "/";
  }

  private static String operatorsPage() {
    return "http://127.0.0.1:" + SCENE.sluice().adminPort() + "/";
  }

  @AfterEach
  void nothingWasWrongAndNothingElsewhereWasAskedFor() {
    try (browser) {
      assertThat(browser.requested())
          .isNotEmpty()
          .allMatch(url -> url.startsWith(statusPage()) || url.startsWith(operatorsPage()));
      assertThat(browser.console()).isEmpty();
      operate("/endpoints/localhost:" + SCENE.upstream.port() + "/restore");
      operate("/endpoints/127.0.0.1:" + SCENE.upstream.port() + "/restore");
      operate("/maintenance?for=0s&model=small");
    }
    SCENE.upstream.answers();
    assertThat(SCENE.exchange(chat("small")).status()).isEqualTo(200);
  }

  private static void operate(String target) {
    Request request =
        Request.of("POST", target).header("Authorization", "Bearer " + Scene.ADMIN_TOKEN);
    assertThat(SCENE.sluice().admin(request).status()).isEqualTo(200);
  }

  private void focus(String selector) {
    browser.script("document.querySelector('" + selector + "').focus()");
  }

  private static String row(String model) {
    return "[...document.querySelectorAll('#models > li')].find(row => row.querySelector('h3')"
        + ".textContent === '"
        + model
        + "')?.querySelector('.state').textContent ?? ''";
  }

  @Test
  void theStatusPageFollowsWhatOperatorsDo() {
    browser.open(statusPage());
    browser.awaitText("#live", "Live");
    browser.await("the pair is available", row("pair") + " === 'available'");
    operate("/endpoints/localhost:" + SCENE.upstream.port() + "/eject?model=pair");
    browser.await("the pair is degraded", row("pair") + " === 'degraded'");
    browser.awaitText("#news", "pair is now degraded.");
    operate("/endpoints/127.0.0.1:" + SCENE.upstream.port() + "/eject?model=pair");
    browser.await("the pair is unavailable", row("pair") + " === 'unavailable'");
    operate("/maintenance?for=1h&model=small");
    browser.await("small is in maintenance", row("small") + ".startsWith('maintenance until ')");
    browser.awaitText("#summary", "1 is unavailable, 1 is in maintenance.");
    assertThat(browser.script("return performance.getEntriesByType('navigation').length"))
        .isEqualTo(1);
    browser.screenshots("status-live");
  }

  @Test
  void aKeyIsCheckedByKeyboardAlone() {
    browser.open(statusPage());
    browser.awaitText("#live", "Live");
    for (int i = 0; i < 50 && !active("key"); i++) {
      browser.type(TAB);
    }
    assertThat(active("key")).isTrue();
    browser.type(Scene.FREE + ENTER);
    browser.awaitText("#key-answer", "This key is valid.");
    assertThat(browser.text("#key-answer")).contains("free", "small", "0 of 2");
    assertThat(browser.script("return location.href")).isEqualTo(statusPage());

    browser.script("document.querySelector('#key').value = ''");
    browser.type(Scene.REVOKED + ENTER);
    browser.awaitText("#key-answer", "This key was revoked.");
    browser.script("document.querySelector('#key').value = ''");
    browser.type("no key" + ENTER);
    browser.awaitText("#key-answer", "This cannot be a key");
    assertThat(browser.requested()).noneMatch(url -> url.contains("sk-"));
  }

  private boolean active(String id) {
    return browser.script("return document.activeElement.id").equals(id);
  }

  @Test
  void whatCanBeUsedHasANameForAScreenReader() {
    for (String page : List.of(statusPage(), operatorsPage())) {
      browser.open(page);
      browser.awaitText("#live", "Live");
      browser.await("it is filled", "document.querySelector('.day, #endpoints button')");
      assertThat(String.valueOf(browser.command("Accessibility.getFullAXTree", "{}")))
          .as("what assistive technology is told")
          .doesNotContain("name={type=computedString, value=}, role=button");
      assertThat(
              browser.script(
                  "return [...document.querySelectorAll('button, input, select, [role=img], meter,"
                      + " [role=region]')].filter(one => !(one.labels?.length || one.ariaLabel ||"
                      + " one.getAttribute('aria-labelledby') || one.textContent.trim()))"
                      + ".map(one => one.outerHTML).join()"))
          .isEqualTo("");
      assertThat(browser.script("return document.documentElement.lang")).isEqualTo("en");
      assertThat(browser.script("return document.querySelectorAll('h1, main').length"))
          .isEqualTo(2);
    }
  }

  private static String endpointRow(String id) {
    return "[...document.querySelectorAll('#endpoints tr')].find(row => row.children[0].textContent"
        + " === 'pair' && row.children[1].textContent === '"
        + id
        + "')";
  }

  /** The page hides it until it knows from the configuration that a token is needed. */
  private void awaitTokenForm() {
    browser.await("a token is asked for", "!document.querySelector('#token-form').hidden");
  }

  @Test
  void anOperatorEjectsAndRestoresAnEndpoint() {
    String first = endpointRow("127.0.0.1:" + SCENE.upstream.port());
    String second = endpointRow("localhost:" + SCENE.upstream.port());
    browser.open(operatorsPage());
    browser.await("the endpoints are there", first);
    awaitTokenForm();
    browser.script(first + ".querySelector('button').focus()");
    browser.type(ENTER);
    browser.awaitText("#said", "Enter the operators' token first.");
    assertThat(active("token")).isTrue();
    browser.type(Scene.ADMIN_TOKEN);

    browser.script(first + ".querySelector('button').focus()");
    browser.type(ENTER);
    browser.awaitText("#said", "of model pair is ejected.");
    browser.await("it is out", first + ".children[2].textContent === 'out'");
    browser.awaitText("#problems", "is not used until an operator restores it.");
    browser.awaitText("#news", "Wrong now: ");

    browser.script(second + ".querySelector('button').focus()");
    browser.type(ENTER);
    browser.await("it asks", "document.querySelector('#confirm').open");
    assertThat(browser.text("#confirm-text")).contains("is the last that model pair has");
    browser.type(ESCAPE);
    browser.await("it asks no longer", "!document.querySelector('#confirm').open");
    assertThat(browser.script("return " + second + ".children[2].textContent"))
        .isEqualTo("healthy");

    browser.script(first + ".querySelector('button').focus()");
    browser.type(ENTER);
    browser.awaitText("#said", "of model pair is restored.");
    browser.await("it is back", first + ".children[2].textContent === 'healthy'");
  }

  @Test
  void anOperatorBeginsAndEndsAMaintenance() {
    browser.open(operatorsPage());
    browser.await(
        "the models are there", "document.querySelectorAll('#maintained option').length > 2");
    awaitTokenForm();
    focus("#token");
    browser.type(Scene.ADMIN_TOKEN);
    browser.script(
        "document.querySelector('#maintained').value = 'small';"
            + "document.querySelector('#length').value = '1h'");
    focus("#length");
    browser.type(ENTER);
    browser.awaitText("#maintenance", "model small: ");
    browser.awaitText("#problems", "Model small is in maintenance for ");
    focus("#maintenance button");
    browser.type(ENTER);
    browser.awaitText("#said", "Maintenance of model small is over.");
    browser.await("it is over", "!document.querySelector('#maintenance button')");
  }

  @Test
  void aDrainIsAskedForTwice() {
    browser.open(operatorsPage());
    browser.awaitText("#drain-state", "Not draining.");
    awaitTokenForm();
    focus("#token");
    browser.type(Scene.ADMIN_TOKEN);
    focus("#drain-button");
    browser.type(ENTER);
    browser.await("it asks", "document.querySelector('#confirm').open");
    assertThat(browser.script("return document.activeElement.value")).isEqualTo("no");
    browser.type(ENTER);
    browser.await("it asks no longer", "!document.querySelector('#confirm').open");
    assertThat(SCENE.sluice().admin("/drain").text()).startsWith("{\"draining\":false,");
  }

  @Test
  void theOperatorsPageShowsAnIncident() throws IOException {
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenStall());
    String before = Files.readString(SCENE.sluice().configFile());
    List<RawClient> clients = new ArrayList<>();
    try {
      for (String key : List.of(Scene.FREE, Scene.FREE_TOO, Scene.PRO, Scene.PRO_TOO)) {
        RawClient client = SCENE.client();
        clients.add(client);
        client.send(stream(CHAT, "small").key(key));
        client.readHead();
        client.readUntil("\n\n");
      }
      assertThat(SCENE.exchange(chat("refusing")).status()).isEqualTo(503);
      operate("/endpoints/localhost:" + SCENE.upstream.port() + "/eject?model=pair");
      Files.writeString(SCENE.sluice().configFile(), before + "nonsense: 1\n");
      browser.open(operatorsPage());
      browser.awaitText("#live", "Live");
      browser.awaitText("#problems", "The new version of the configuration was refused");
      browser.awaitText("#problems", "Plan free: all 2 stream slots are in use.");
      browser.awaitText("#problems", "upstream_connect");
      browser.await("four are shown", "document.querySelectorAll('#exchanges tr').length === 4");
      assertThat(browser.text("#exchanges"))
          .contains("small", "pro-too", "answering, stream", "req_");
      browser.awaitText("#reloads", "nonsense: unknown name");
      browser.script("document.querySelector('#config-summary').parentElement.open = true");
      browser.awaitText("#config", "\"admin-token-env\": \"***\"");
      assertThat(browser.text("body"))
          .doesNotContain(Scene.ADMIN_TOKEN, Scene.UPSTREAM_KEY, Scene.FREE);
      browser.script("document.querySelector('#config-summary').parentElement.open = false");
      browser.screenshots("operator");
      focus("#filter");
      browser.type("pro-too");
      browser.await("one is shown", "document.querySelectorAll('#exchanges tr').length === 1");
    } finally {
      clients.forEach(RawClient::close);
      Files.writeString(SCENE.sluice().configFile(), before);
    }
    browser.await("they are gone", "document.querySelectorAll('#exchanges tr').length === 0");
    Eventually.that(
        "the configuration is as it was",
        () -> !SCENE.sluice().admin("/problems").text().contains("was refused"));
  }
}
