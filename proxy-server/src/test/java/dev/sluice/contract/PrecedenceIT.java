package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.INACTIVE;
import static dev.sluice.contract.Scene.INACTIVE_REVOKED;
import static dev.sluice.contract.Scene.MAX_BODY_BYTES;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.PRO_TOO;
import static dev.sluice.contract.Scene.UNKNOWN;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Which error wins: a request that breaks two neighbouring checks gets the answer of the earlier
 * one. The pairs with the state "draining" are in {@link ShutdownIT}, which can bring it about.
 */
class PrecedenceIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String OVER = "x".repeat(MAX_BODY_BYTES + 1);

  private static Answer answer(Request request) {
    try (RawClient client = SCENE.client()) {
      Answer answer = client.sendAsFarAsTaken(request.wire()).read(request.method());
      assertThat(SCENE.upstream.waiting()).isZero();
      return answer;
    }
  }

  private static Request declared(Request request, String length) {
    return request.rawBody("").header("Content-Length", length);
  }

  @Test
  void unreadableHttpWinsOverADeclaredBodyOverTheBound() {
    Request request = declared(chat("small"), "1000000000").header("X-Bad ", "white space");

    assertError(answer(request), 400);
  }

  @Test
  void unreadableHttpWinsOverAMissingKey() {
    assertError(answer(Request.get("/v1/models").without("Host")), 400);
  }

  @Test
  void aDeclaredBodyOverTheBoundWinsOverTheContentType() {
    Request request = declared(Request.of("POST", CHAT), "65537");

    assertError(answer(request.header("Content-Type", "text/plain")), 413);
  }

  @Test
  void aDeclaredBodyOverTheBoundWinsOverAMissingKeyAndAnUnknownPath() {
    assertError(answer(declared(Request.of("POST", "/nothing"), "65537")), 413);
  }

  @Test
  void theContentTypeWinsOverTheKey() {
    Request request = Request.post(CHAT, "{}").without("Content-Type").key(UNKNOWN);

    assertError(answer(request), 415);
  }

  @Test
  void theContentTypeDoesNotMatterWhereNoOperationTakesABody() {
    Request elsewhere =
        Request.of("POST", "/v1/nothing").body("text").header("Content-Type", "a/b");

    assertError(answer(elsewhere), 401);
    assertError(answer(elsewhere.key(PRO)), 404);
    assertError(answer(Request.of("DELETE", CHAT).key(PRO)), 405);
  }

  @Test
  void theKeyWinsOverTheSubscription() {
    assertError(answer(chat("small").key(INACTIVE_REVOKED)), 401);
  }

  @Test
  void theKeyWinsOverThePathAndTheMethod() {
    assertError(answer(Request.get("/v1/nothing").key(UNKNOWN)), 401);
    assertError(answer(Request.get("/").key(UNKNOWN)), 401);
    assertError(answer(Request.of("DELETE", "/v1/models").key(UNKNOWN)), 401);
  }

  @Test
  void theSubscriptionWinsOverThePathAndTheMethod() {
    assertError(answer(Request.get("/v1/nothing").key(INACTIVE)), 403);
    assertError(answer(Request.of("DELETE", "/v1/models").key(INACTIVE)), 403);
  }

  @Test
  void thePathWinsOverABodyThatPassesTheBoundAsItArrives() {
    Request request = Request.post("/v1/nothing", OVER).key(PRO).chunked(10_000);

    assertError(answer(request), 404);
  }

  @Test
  void theMethodWinsOverABodyThatPassesTheBoundAsItArrives() {
    Request request = Request.post(CHAT, OVER).key(PRO).chunked(10_000);

    Answer answer = answer(request.line("PUT " + CHAT + " HTTP/1.1"));

    assertError(answer, 405);
    assertThat(answer.header("allow")).isEqualTo("POST");
  }

  @Test
  void aBodyThatPassesTheBoundAsItArrivesWinsOverItsMalformedJson() {
    assertError(answer(Request.post(CHAT, OVER).key(PRO).chunked(10_000)), 413);
  }

  @Test
  void malformedJsonWinsOverAnUnknownModel() {
    assertError(answer(Request.post(CHAT, "{\"model\":\"none\",\"messages\":[}").key(PRO)), 400);
  }

  @Test
  void aBrokenShapeWinsOverAnUnknownModelAndOverOneThatIsNotInThePlan() {
    assertError(answer(Request.post(CHAT, "{\"model\":\"none\",\"messages\":[]}").key(PRO)), 400);
    assertError(
        answer(Request.post(CHAT, "{\"model\":\"renamed\",\"messages\":[]}").key(FREE)), 400);
  }

  @Test
  void theModelWinsOverBusySlotsAndBusySlotsOverAnUpstreamThatIsDown() {
    SCENE.upstream.always(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenStall());
    List<RawClient> running = new ArrayList<>();
    try {
      for (int i = 0; i < 5; i++) {
        RawClient client = SCENE.client();
        running.add(client);
        client.send(stream(CHAT, "small").key(i < 2 ? FREE : PRO));
        assertThat(client.readHead().status()).isEqualTo(200);
        SCENE.upstream.take();
      }

      assertError(answer(stream(CHAT, "none").key(FREE)), 404);
      assertError(answer(stream(CHAT, "renamed").key(FREE)), 403);
      assertError(answer(stream(CHAT, "small").key(FREE)), 429);
      assertError(answer(stream(CHAT, "refusing").key(PRO)), 429);
      assertError(answer(stream(CHAT, "refusing").key(PRO_TOO)), 503);
      assertError(answer(chat("refusing").key(PRO)), 503);
    } finally {
      running.forEach(RawClient::close);
    }
  }
}
