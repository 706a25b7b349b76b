package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.UPSTREAM_KEY;
import static dev.sluice.contract.Scene.body;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.Recorded;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import dev.sluice.testing.Wire;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes on to the upstream, and which headers come back. */
class UpstreamRequestIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final String SPACED =
      " \n{ \"messages\" :\t[ {\"role\":\"user\",\"content\":\"a\\u0062\\/ü\"} ] ,"
          + "\r\n \"x\":{\"model\":\"small\"}, \"n\":1, \"model\"  : \"%s\" , \"top_p\":1.0e-0 } \n";

  private static Recorded forwarded(Request request) {
    assertThat(SCENE.exchange(request).status()).isEqualTo(200);
    return SCENE.upstream.take();
  }

  @Test
  void aBodyGoesOnByteForByte() {
    String json = SPACED.formatted("small");
    for (Request request : List.of(Request.post(CHAT, json), Request.post(CHAT, json).chunked(7))) {
      Recorded recorded = forwarded(request.key(PRO));
      assertThat(recorded.body()).isEqualTo(Wire.utf8(json));
      assertThat(recorded.header("content-length"))
          .isEqualTo(Integer.toString(Wire.utf8(json).length()));
      assertThat(recorded.headers("transfer-encoding")).isEmpty();
    }
  }

  @ParameterizedTest(name = "\"model\":\"{0}\"")
  @ValueSource(strings = {"renamed", "ren\\u0061med", "\\u0072enamed"})
  void whereTheUpstreamKnowsAnotherNameOnlyThatValueIsReplaced(String model) {
    Recorded recorded = forwarded(Request.post(CHAT, SPACED.formatted(model)).key(PRO));

    assertThat(recorded.body()).isEqualTo(Wire.utf8(SPACED.formatted("llama-3.1-8b")));
    assertThat(recorded.header("content-length"))
        .isEqualTo(Integer.toString(recorded.body().length()));
  }

  @Test
  void thePathIsAppendedToTheUpstreamsBaseAndTheQueryGoesOn() {
    Request request = chat("renamed").line("POST " + MESSAGES + "?beta=true&x=%20%2f HTTP/1.1");

    assertThat(forwarded(request).line())
        .isEqualTo("POST /base" + MESSAGES + "?beta=true&x=%20%2f HTTP/1.1");
  }

  @Test
  void theCallersKeyNeverReachesAnUpstream() {
    Request request =
        chat("small")
            .header("Proxy-Authorization", "Basic c2VjcmV0")
            .header("X-Unrelated", "stays");

    Recorded recorded = forwarded(request);

    assertThat(recorded.headers("authorization")).isEmpty();
    assertThat(recorded.headers("proxy-authorization")).isEmpty();
    assertThat(recorded.headers().toString()).doesNotContain(PRO);
    assertThat(recorded.header("x-unrelated")).isEqualTo("stays");
  }

  @Test
  void theUpstreamsOwnCredentialComesFromTheConfiguration() {
    assertThat(forwarded(chat("renamed")).header("authorization"))
        .isEqualTo("Bearer " + UPSTREAM_KEY);
  }

  @Test
  void hopByHopHeadersAreDroppedOnTheWayUp() {
    Request request =
        chat("small")
            .header("Connection", "keep-alive, X-Hop, x-other")
            .header("X-Hop", "1")
            .header("X-Other", "2")
            .header("Keep-Alive", "timeout=5")
            .header("TE", "trailers")
            .header("Trailer", "X-T")
            .header("Upgrade", "websocket")
            .header("Proxy-Connection", "keep-alive");

    Recorded recorded = forwarded(request);

    for (String name :
        List.of("x-hop", "x-other", "keep-alive", "te", "trailer", "upgrade", "proxy-connection")) {
      assertThat(recorded.headers(name)).as(name).isEmpty();
    }
  }

  @Test
  void aConnectionHeaderCannotStripWhatTheProxySets() {
    Request request =
        chat("renamed")
            .header(
                "Connection", "authorization, host, x-request-id, content-length, content-type");

    Recorded recorded = forwarded(request);

    assertThat(recorded.header("authorization")).isEqualTo("Bearer " + UPSTREAM_KEY);
    assertThat(recorded.header("host")).isEqualTo("127.0.0.1:" + SCENE.upstream.port());
    assertThat(recorded.header("x-request-id")).startsWith("req_");
    assertThat(recorded.body()).isEqualTo(body("llama-3.1-8b", ""));
  }

  @Test
  void acceptEncodingIsDropped() {
    assertThat(
            forwarded(chat("small").header("Accept-Encoding", "gzip, br"))
                .headers("accept-encoding"))
        .isEmpty();
  }

  @Test
  void otherEndToEndHeadersGoOnAsTheyCame() {
    Request request =
        chat("small")
            .header("anthropic-version", "2023-06-01")
            .header("OpenAI-Organization", "org-1")
            .header("User-Agent", "sdk/1.0")
            .header("X-Twice", "a")
            .header("X-Twice", "b, c")
            .header("Accept", "application/json")
            .header("X-Empty", "");

    Recorded recorded = forwarded(request);

    assertThat(recorded.header("anthropic-version")).isEqualTo("2023-06-01");
    assertThat(recorded.header("openai-organization")).isEqualTo("org-1");
    assertThat(recorded.header("user-agent")).isEqualTo("sdk/1.0");
    assertThat(recorded.headers("x-twice")).containsExactly("a", "b, c");
    assertThat(recorded.header("accept")).isEqualTo("application/json");
    assertThat(recorded.header("x-empty")).isEmpty();
    assertThat(recorded.header("content-type")).isEqualTo("application/json");
  }

  @Test
  void hostNamesTheUpstream() {
    assertThat(forwarded(chat("small").without("Host").header("Host", "a.test")).header("host"))
        .isEqualTo("127.0.0.1:" + SCENE.upstream.port());
  }

  @Test
  void ourRequestIdGoesUpAndComesBack() {
    Answer answer = SCENE.exchange(chat("small").header("X-Request-Id", "theirs"));

    assertThat(SCENE.upstream.take().header("x-request-id"))
        .isEqualTo(answer.header("x-request-id"))
        .startsWith("req_");
  }

  @Test
  void theTraceOfTheCallerGoesOnFromASpanOfOurs() {
    String trace = "0af7651916cd43dd8448eb211c80319c";
    String parent = "00-" + trace + "-b7ad6b7169203331-01";

    Answer answer =
        SCENE.exchange(
            chat("small").header("traceparent", parent).header("tracestate", "vendor=1,other=2"));
    Recorded recorded = SCENE.upstream.take();

    assertThat(recorded.header("traceparent"))
        .matches("00-" + trace + "-[0-9a-f]{16}-01")
        .isNotEqualTo(parent);
    assertThat(recorded.header("tracestate")).isEqualTo("vendor=1,other=2");
    assertThat(traceIdInLog(answer)).isEqualTo(trace);
  }

  @Test
  void aTraceThatBreaksTheRulesOrIsAbsentIsReplaced() {
    for (Request request :
        List.of(
            chat("small"),
            chat("small").header("traceparent", "00-1").header("tracestate", "vendor=1"),
            chat("small").header("traceparent", "00-" + "0".repeat(32) + "-b7ad6b7169203331-01"))) {
      Answer answer = SCENE.exchange(request);
      Recorded recorded = SCENE.upstream.take();

      assertThat(answer.status()).isEqualTo(200);
      assertThat(recorded.headers("traceparent")).hasSize(1);
      assertThat(recorded.header("traceparent"))
          .matches("00-" + traceIdInLog(answer) + "-[0-9a-f]{16}-00")
          .doesNotContain("0".repeat(32));
      assertThat(recorded.headers("tracestate")).isEmpty();
    }
  }

  private static String traceIdInLog(Answer answer) {
    String id = answer.header("x-request-id");
    Eventually.that(
        "a line of " + id,
        () -> SCENE.sluice().stdout().stream().anyMatch(line -> line.contains(id)));
    String line =
        SCENE.sluice().stdout().stream()
            .filter(said -> said.contains(id))
            .findFirst()
            .orElseThrow();
    return (String) Objects.requireNonNull(Json.object(line).get("trace_id"));
  }

  @Test
  void anUpstreamIsAskedInHttp11OverAConnectionThatStays() {
    Recorded recorded = forwarded(chat("small").http10());

    assertThat(recorded.line()).endsWith(" HTTP/1.1");
    assertThat(recorded.headers("connection"))
        .allMatch(value -> !value.toLowerCase(Locale.ROOT).contains("close"));
    assertThat(recorded.headers("expect")).isEmpty();
  }

  @Test
  void everyHeaderGoesUpOnceAtMost() {
    Recorded recorded = forwarded(chat("renamed"));

    assertThat(recorded.headers())
        .extracting(header -> header.name().toLowerCase(Locale.ROOT))
        .doesNotHaveDuplicates();
  }

  @Test
  void hopByHopHeadersAndCredentialsOfTheUpstreamAreDroppedOnTheWayDown() {
    String[] lines = {
      "Connection: X-Hop",
      "X-Hop: 1",
      "Keep-Alive: timeout=5",
      "Proxy-Authenticate: Basic",
      "Upgrade: h2c",
      "Trailer: X-T",
      "X-Request-Id: theirs",
      "openai-processing-ms: 12",
      "X-Twice: a",
      "X-Twice: b"
    };
    String json = Script.head(200, "application/json", lines) + "Content-Length: 2\r\n\r\n{}";
    String events =
        Script.head(200, "text/event-stream", lines)
            + "Transfer-Encoding: chunked\r\n\r\n"
            + Script.chunks("data: 1\n\n", Script.DONE)
            + "0\r\n\r\n";
    SCENE.upstream.answers(Script.raw(json), Script.raw(events));
    for (Request request : List.of(chat("small"), stream(CHAT, "small"))) {
      Answer answer = SCENE.exchange(request);

      assertThat(answer.status()).isEqualTo(200);
      for (String name :
          List.of("x-hop", "keep-alive", "proxy-authenticate", "upgrade", "trailer")) {
        assertThat(answer.headers(name)).as(name).isEmpty();
      }
      assertThat(answer.header("x-request-id")).startsWith("req_");
      assertThat(answer.header("openai-processing-ms")).isEqualTo("12");
      assertThat(answer.headers("x-twice")).containsExactly("a", "b");
    }
  }
}
