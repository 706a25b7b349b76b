package dev.sluice.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.page.Reply;
import dev.sluice.testing.Json;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What operators call, what each call answers, and who may call. */
class CallsTest {
  private static final SocketAddress HERE = peer("127.0.0.1");
  private static final SocketAddress HERE_TOO = peer("::1");
  private static final SocketAddress ELSEWHERE = peer("192.0.2.7");
  private static final String TOKEN = "operators-token";
  private static final String NO_PAGE =
      "peer: a web page (expected: the operator's page, or an operator's own client)";

  private final FakeOperations operations = new FakeOperations();
  private final Calls open = new Calls(operations, new AccessRule(() -> null));
  private final Calls guarded = new Calls(operations, new AccessRule(() -> TOKEN));

  private static SocketAddress peer(String address) {
    return new InetSocketAddress(NetUtil.createInetAddressFromIpAddressString(address), 4711);
  }

  private static @Nullable Reply ask(
      Calls calls, SocketAddress peer, String method, String target, String... headers) {
    FullHttpRequest request =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.valueOf(method), target);
    for (int i = 0; i < headers.length; i += 2) {
      request.headers().add(headers[i], headers[i + 1]);
    }
    return calls.reply(request, target.replaceFirst("\\?.*", ""), peer);
  }

  private Reply ask(String method, String target, String... headers) {
    return Objects.requireNonNull(ask(open, HERE, method, target, headers));
  }

  private void assertDone(Reply reply, String json, String... done) {
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
    assertThat(reply.body()).isEqualTo(json + "\n");
    assertThat(operations.done).containsExactly(done);
  }

  private void assertRefused(@Nullable Reply reply, int status, String error) {
    assertThat(Objects.requireNonNull(reply).status()).as(reply.body()).isEqualTo(status);
    assertThat(Json.object(reply.body())).isEqualTo(Map.of("error", error));
    assertThat(operations.done).isEmpty();
  }

  // Maintenance.

  @Test
  void allModelsAreMaintainedForATime() {
    assertDone(
        ask("POST", "/maintenance?for=10m"),
        "{\"maintenance\":[{\"model\":\"*\",\"remaining_seconds\":600}]}",
        "maintain * PT10M");
  }

  @Test
  void oneModelIsMaintainedForATime() {
    operations.maintainAll(5);
    assertDone(
        ask("POST", "/maintenance?model=openai%2Fgpt-oss-120b&for=90s"),
        "{\"maintenance\":[{\"model\":\"*\",\"remaining_seconds\":5},"
            + "{\"model\":\"openai/gpt-oss-120b\",\"remaining_seconds\":90}]}",
        "maintain openai/gpt-oss-120b PT1M30S");
  }

  @Test
  void noTimeAtAllEndsIt() {
    operations.maintainAll(5);
    assertDone(ask("POST", "/maintenance?for=0s"), "{\"maintenance\":[]}", "maintain * PT0S");
  }

  @Test
  void theMaintenanceOfAModelThatIsConfiguredNoLongerCanBeEnded() {
    operations.maintenance.put("gone", 5L);
    assertDone(
        ask("POST", "/maintenance?for=0s&model=gone"),
        "{\"maintenance\":[]}",
        "maintain gone PT0S");
  }

  @Test
  void whatIsInMaintenanceIsShown() {
    operations.maintenance.put("small", 5L);
    assertDone(
        ask("GET", "/maintenance"),
        "{\"maintenance\":[{\"model\":\"small\",\"remaining_seconds\":5}]}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | for: nothing",
        "?for= | for: nothing",
        "?for=10 | for: 10",
        "?for=-1s | for: -1s",
        "?for=25h | for: 25h",
        "?for=1d | for: 1d",
        "?for=10%0Am | for: 10?m",
      })
  void aLengthThatIsNoneIsRefused(String query, String shown) {
    assertRefused(
        ask("POST", "/maintenance" + query),
        400,
        shown + " (expected: a duration from 0ms to 24h, as in 10s; units ms, s, m, h)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "*", "SMALL"})
  void aModelThatIsNotConfiguredIsRefused(String model) {
    operations.maintainAll(5);
    assertRefused(
        ask("POST", "/maintenance?for=1s&model=" + model),
        400,
        "model: " + model + " (expected: one of small, openai/gpt-oss-120b)");
  }

  @ParameterizedTest
  @CsvSource({"for=1s&fr=2s, fr", "for=1s&for=2s, for", "for=1s&model=small&model=small, model"})
  void aParameterThatIsUnknownOrTwiceIsRefused(String query, String name) {
    assertRefused(
        ask("POST", "/maintenance?" + query),
        400,
        "query: " + name + " (expected: for, model, once each)");
  }

  @Test
  void aQueryThatIsNoTextIsRefused() {
    assertRefused(
        ask("POST", "/maintenance?for=%4"),
        400,
        "query: malformed (expected: percent-encoded UTF-8)");
  }

  @Test
  void parametersInTheBodyAreRefused() {
    FullHttpRequest request =
        new DefaultFullHttpRequest(
            HttpVersion.HTTP_1_1,
            HttpMethod.POST,
            "/drain",
            Unpooled.wrappedBuffer("deadline=1s".getBytes(UTF_8)));
    assertRefused(
        open.reply(request, "/drain", HERE),
        400,
        "body: 11 bytes (expected: none; parameters stand in the query)");
  }

  // Drain.

  @Test
  void aDrainBeginsAndReports() {
    assertDone(
        ask("GET", "/drain"),
        "{\"draining\":false,\"deadline_seconds\":null,\"exchanges\":3,\"streams\":2}");
    assertDone(
        ask("POST", "/drain"),
        "{\"draining\":true,\"deadline_seconds\":30,\"exchanges\":3,\"streams\":2}",
        "drain null");
  }

  @Test
  void aDrainMayHaveADeadlineOfItsOwn() {
    assertDone(
        ask("POST", "/drain?deadline=1m"),
        "{\"draining\":true,\"deadline_seconds\":60,\"exchanges\":3,\"streams\":2}",
        "drain PT1M");
  }

  @Test
  void aDeadlineThatIsNoneIsRefused() {
    assertRefused(
        ask("POST", "/drain?deadline=soon"),
        400,
        "deadline: soon (expected: a duration from 0ms to 24h, as in 10s; units ms, s, m, h)");
  }

  // Endpoints.

  @Test
  void endpointsAreShown() {
    Reply reply = ask("GET", "/endpoints");

    assertThat(Json.objects(Json.object(reply.body()), "endpoints"))
        .hasSize(3)
        .contains(
            Map.of(
                "model",
                "small",
                "id",
                "10.0.0.8:8000/base",
                "state",
                "healthy",
                "failing",
                false,
                "wait_seconds",
                0,
                "open_exchanges",
                1,
                "weight",
                2));
  }

  @Test
  void anEndpointIsEjectedFromAllModelsThatHaveItAndRestoredToOne() {
    Reply ejected = ask("POST", "/endpoints/10.0.0.7%3A8000/eject");
    assertThat(operations.done)
        .containsExactly("eject small 10.0.0.7:8000", "eject openai/gpt-oss-120b 10.0.0.7:8000");
    assertThat(Json.objects(Json.object(ejected.body()), "endpoints"))
        .extracting(endpoint -> endpoint.get("state"))
        .containsExactly("out", "out");
    assertThat(ejected.body()).contains("\"wait_seconds\":null");

    operations.done.clear();
    Reply restored = ask("POST", "/endpoints/10.0.0.7:8000/restore?model=small");
    assertThat(operations.done).containsExactly("restore small 10.0.0.7:8000");
    assertThat(Json.objects(Json.object(restored.body()), "endpoints"))
        .extracting(endpoint -> endpoint.get("state"))
        .containsExactly("healthy");
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.8:8000/base", "10.0.0.8%3A8000%2Fbase", "10.0.0.8:8000%2fbase"})
  void anIdMayHoldASlash(String id) {
    ask("POST", "/endpoints/" + id + "/eject");

    assertThat(operations.done).containsExactly("eject small 10.0.0.8:8000/base");
  }

  @Test
  void anEndpointThatIsNotThereIs404WithThoseThatAre() {
    assertRefused(
        ask("POST", "/endpoints/nowhere/eject"),
        404,
        "id: nowhere (expected: one of 10.0.0.7:8000, 10.0.0.8:8000/base)");
    assertRefused(
        ask("POST", "/endpoints/10.0.0.8:8000%2Fbase/eject?model=openai/gpt-oss-120b"),
        404,
        "id: 10.0.0.8:8000/base (expected: one of 10.0.0.7:8000)");
    assertRefused(
        ask("POST", "/endpoints/10.0.0.7:8000/eject?model=none"),
        400,
        "model: none (expected: one of small, openai/gpt-oss-120b)");
    assertRefused(
        ask("POST", "/endpoints/%4/eject"), 400, "id: malformed (expected: percent-encoded UTF-8)");
  }

  // What is only shown.

  @Test
  void whatIsWrongIsShown() {
    assertDone(
        ask("GET", "/problems"),
        "{\"problems\":[{\"severity\":\"alarm\",\"text\":\"On fire.\"},"
            + "{\"severity\":\"caution\",\"text\":\"Smoke.\"}]}");
  }

  @Test
  void howMuchIsUnderWayIsShown() {
    assertDone(
        ask("GET", "/overview"),
        "{\"exchanges\":3,\"max_exchanges\":10,\"streams\":2,\"connections\":4,"
            + "\"max_connections\":20,\"memory_held_bytes\":5,\"memory_limit_bytes\":50,"
            + "\"plans\":[{\"name\":\"free\",\"slots_in_use\":1,\"slots\":2}]}");
  }

  @Test
  void reloadsAreShown() {
    assertDone(
        ask("GET", "/reloads"),
        "{\"reloads\":[{\"at\":\"2026-05-04T03:02:01Z\",\"file\":\"keys.yaml\","
            + "\"result\":\"refused\",\"told\":\"the 2 keys known before stay\","
            + "\"faults\":[\"a\",\"b\"]},{\"at\":\"2026-05-04T03:02:01Z\","
            + "\"file\":\"sluice.yaml\",\"result\":\"ok\",\"told\":\"read at the start\","
            + "\"faults\":[]}]}");
  }

  // Paths and methods.

  @ParameterizedTest
  @CsvSource({
    "PUT, /maintenance, 'GET, HEAD, POST'",
    "DELETE, /drain, 'GET, HEAD, POST'",
    "POST, /endpoints, 'GET, HEAD'",
    "POST, /problems, 'GET, HEAD'",
    "PUT, /overview, 'GET, HEAD'",
    "DELETE, /reloads, 'GET, HEAD'",
    "PATCH, /endpoints, 'GET, HEAD'",
    "GET, /endpoints/a/eject, POST",
    "PUT, /endpoints/a/restore, POST",
  })
  void anotherMethodIs405WithTheOnesThatAre(String method, String path, String allow) {
    Reply reply = ask(method, path);

    assertRefused(reply, 405, "no such method (expected: " + allow + ")");
    assertThat(reply.headers()).containsEntry("allow", allow);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/maintenance/",
        "/endpoints/",
        "/endpoints/a",
        "/endpoints/eject",
        "/config2",
        "/x"
      })
  void noOtherPathIsThere(String path) {
    assertThat(ask(open, HERE, "GET", path)).isNull();
    assertThat(ask(open, HERE, "POST", path)).isNull();
  }

  // Access.

  @Test
  void withoutATokenThisMachineMayChangeThings() {
    assertThat(ask("POST", "/drain").status()).isEqualTo(200);
    assertThat(Objects.requireNonNull(ask(open, HERE_TOO, "POST", "/drain")).status())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/maintenance?for=1s", "/drain", "/endpoints/a/eject", "/nowhere"})
  void withoutATokenNobodyElseMay(String target) {
    assertRefused(
        ask(open, ELSEWHERE, "POST", target, "Authorization", "Bearer " + TOKEN),
        403,
        "peer: not on this machine (expected: a loopback address, or admin-token-env)");
  }

  @Test
  void aPeerWithoutAnAddressIsNotOnThisMachine() {
    for (SocketAddress peer :
        List.of(InetSocketAddress.createUnresolved("localhost", 1), new SocketAddress() {})) {
      assertThat(Objects.requireNonNull(ask(open, peer, "POST", "/drain")).status()).isEqualTo(403);
    }
  }

  @Test
  void everybodyMaySee() {
    for (Calls calls : List.of(open, guarded)) {
      for (String path : List.of("/maintenance", "/drain", "/endpoints")) {
        assertThat(
                Objects.requireNonNull(ask(calls, ELSEWHERE, "GET", path, "Origin", "http://a"))
                    .status())
            .isEqualTo(200);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer ", "bearer ", "BEARER   "})
  void withATokenWhoeverSendsItMay(String scheme) {
    Reply reply = ask(guarded, ELSEWHERE, "POST", "/drain", "Authorization", scheme + TOKEN);

    assertThat(Objects.requireNonNull(reply).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Bearer",
        "Bearer ",
        "Bearer operators-toke",
        "Bearer operators-token2",
        "Bearer Operators-token",
        "operators-token",
        "Basic operators-token",
        "Bearer operators-token operators-token"
      })
  void withATokenNobodyElseMayNotEvenOnThisMachine(String authorization) {
    Reply reply =
        authorization.isEmpty()
            ? ask(guarded, HERE, "POST", "/drain")
            : ask(guarded, HERE, "POST", "/drain", "Authorization", authorization);

    assertRefused(reply, 401, "Authorization: not the token (expected: Bearer and the token)");
    assertThat(Objects.requireNonNull(reply).headers()).containsEntry("www-authenticate", "Bearer");
  }

  @Test
  void twoTokensAreNone() {
    String right = "Bearer " + TOKEN;
    Reply reply =
        ask(guarded, HERE, "POST", "/drain", "Authorization", right, "Authorization", right);

    assertThat(Objects.requireNonNull(reply).status()).isEqualTo(401);
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:9901, http://127.0.0.1:9902, same-origin",
    "127.0.0.1:9901, http://127.0.0.1, same-origin",
    "127.0.0.1:9901, http://evil.example, cross-site",
    "127.0.0.1:9901, http://localhost:9901, same-site",
    "127.0.0.1:9901, http://127.0.0.1:9901, cross-site",
    "127.0.0.1:9901, http://127.0.0.1:9901, same-site",
    "127.0.0.1:9901, null, same-origin",
    "127.0.0.1:9901, file://, same-origin",
    "127.0.0.1:9901, '', cross-site",
    "127.0.0.1:9901, '', same-site",
    "127.0.0.1:9901, '', same-origin",
  })
  void anotherWebPageMayNotWhateverItSends(String host, String origin, String site) {
    for (Calls calls : List.of(open, guarded)) {
      assertRefused(fromPage(calls, host, origin, site), 403, NO_PAGE);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"127.0.0.1:9901", "localhost:9901", "[::1]:9901", "10.0.0.1", "[fd00::7]"})
  void theOperatorsOwnPageMay(String host) {
    for (String scheme : List.of("http://", "https://")) {
      for (Calls calls : List.of(open, guarded)) {
        assertThat(
                Objects.requireNonNull(fromPage(calls, host, scheme + host, "same-origin"))
                    .status())
            .isEqualTo(200);
        assertThat(Objects.requireNonNull(fromPage(calls, host, scheme + host, "")).status())
            .isEqualTo(200);
      }
    }
  }

  /** A page from elsewhere whose name was made to lead here is its own origin. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example:9901",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "[evil]",
        "",
        "1.2.3.4.5"
      })
  void aNameIsThePagesOwnOnlyWithTheToken(String host) {
    assertRefused(fromPage(open, host, "http://" + host, "same-origin"), 403, NO_PAGE);
    assertThat(
            Objects.requireNonNull(fromPage(guarded, host, "http://" + host, "same-origin"))
                .status())
        .isEqualTo(200);
  }

  @Test
  void twoOriginsAreAnotherPage() {
    assertRefused(
        ask(
            open,
            HERE,
            "POST",
            "/drain",
            "Host",
            "localhost",
            "Origin",
            "http://localhost",
            "Origin",
            "http://localhost"),
        403,
        NO_PAGE);
  }

  private static @Nullable Reply fromPage(Calls calls, String host, String origin, String site) {
    List<String> headers =
        new ArrayList<>(List.of("Host", host, "Authorization", "Bearer " + TOKEN));
    if (!origin.isEmpty()) {
      headers.addAll(List.of("Origin", origin));
    }
    if (!site.isEmpty()) {
      headers.addAll(List.of("Sec-Fetch-Site", site));
    }
    return ask(calls, HERE, "POST", "/drain", headers.toArray(String[]::new));
  }

  @Test
  void whoTypesTheAddressIsNoWebPage() {
    assertThat(ask("POST", "/drain", "Sec-Fetch-Site", "none").status()).isEqualTo(200);
  }
}
