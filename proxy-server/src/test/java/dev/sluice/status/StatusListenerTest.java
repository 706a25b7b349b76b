package dev.sluice.status;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.telemetry.Meters;
import dev.sluice.testing.Eventually;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The status page's listener, over real sockets. */
@Timeout(60)
class StatusListenerTest {
  private static final Instant NOW = Instant.parse("2026-05-04T03:02:01Z");

  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final HttpClient client = HttpClient.newHttpClient();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final FakeSource source = new FakeSource();
  private StatusListener listener;

  @BeforeEach
  void open() throws IOException {
    source.model("small", Availability.AVAILABLE).model("big", Availability.DEGRADED);
    source.key("sk-pro", FakeSource.PRO, true, null, false);
    source.key("sk-free", FakeSource.FREE, true, NOW.plusSeconds(1), false);
    source.key("sk-unpaid", FakeSource.PRO, false, null, false);
    source.key("sk-revoked", FakeSource.PRO, true, null, true);
    source.key("sk-expired", FakeSource.PRO, true, NOW, false);
    listener = open(new InetSocketAddress(InetAddress.getLoopbackAddress().getHostAddress(), 0));
  }

  private StatusListener open(InetSocketAddress address) throws IOException {
    return StatusListener.open(
        group.next(),
        NioServerSocketChannel.class,
        address,
        source,
        () -> NOW,
        () -> 0, // whoever is slowed down stays so
        registry);
  }

  @AfterEach
  void close() {
    listener.close();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private HttpResponse<String> send(String method, String path, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + listener.address().getPort() + path))
            .method(method, BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> check(String key) throws Exception {
    return send("POST", "/key", "Authorization", "Bearer " + key);
  }

  private double checks(String result) {
    return Meters.STATUS_KEY_CHECKS.counter(registry, result).count();
  }

  @ParameterizedTest
  @CsvSource({
    "/, text/html; charset=utf-8, <title>Service status</title>",
    "/status.js, text/javascript; charset=utf-8, import",
    "/live.js, text/javascript; charset=utf-8, export",
    "/page.css, text/css; charset=utf-8, prefers-color-scheme",
    "/icon.svg, image/svg+xml, <svg",
    "/status.json, application/json, first_bucket",
  })
  void whatTheJarHoldsIsShownAndNothingFromElsewhere(String path, String type, String text)
      throws Exception {
    HttpResponse<String> answer = send("GET", path);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).hasValue(type);
    assertThat(answer.body()).contains(text);
    assertThat(answer.body().replace("http://www.w3.org/2000/svg", ""))
        .doesNotContain("http:", "https:", "url(", "style=");
    assertThat(answer.headers().firstValue("content-security-policy").orElse(""))
        .startsWith("default-src 'none'; script-src 'self'; ")
        .doesNotContain("unsafe", "*");
    assertThat(answer.headers().firstValue("x-content-type-options")).hasValue("nosniff");
    assertThat(answer.headers().firstValue("cache-control")).hasValue("no-store");
    assertThat(answer.headers().firstValue("referrer-policy")).hasValue("no-referrer");
    assertThat(send("HEAD", path).body()).isEmpty();
    HttpResponse<String> wrong = send("PUT", path);
    assertThat(wrong.statusCode()).isEqualTo(405);
    assertThat(wrong.headers().firstValue("allow")).hasValue("GET, HEAD");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/metrics", "/config", "/status", "/pages/status.html", "/..", "/operator.js"})
  void nothingElseIsThere(String path) throws Exception {
    HttpResponse<String> answer = send("GET", path);

    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(answer.body())
        .isEqualTo("{\"error\":\"no such path (expected: /, /status.json, /events or /key)\"}\n");
  }

  @Test
  void theModelsAreSeenWithoutBeingAskedFor() throws Exception {
    Eventually.that(
        "the models were seen",
        () -> send("GET", "/status.json").body().contains("-a\"},{\"id\":\"big\""));
    assertThat(send("GET", "/status.json").body()).contains("\"history\":\"---", "---d\"}]}");
  }

  @Test
  void aKeyThatIsGoodIsToldWhatItMayDo() throws Exception {
    HttpResponse<String> answer = check("sk-pro");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).hasValue("application/json");
    assertThat(answer.body())
        .isEqualTo(
            "{\"valid\":true,\"subscription_active\":true,\"plan\":\"pro\","
                + "\"models\":[\"small\",\"big\"],\"slots_in_use\":42,\"slots\":100,"
                + "\"slots_in_use_by_key\":3,\"slots_per_key\":10}\n");
    assertThat(check("sk-free").body())
        .isEqualTo(
            "{\"valid\":true,\"subscription_active\":true,\"plan\":\"free\","
                + "\"models\":[\"small\"],\"slots_in_use\":2,\"slots\":2,"
                + "\"slots_in_use_by_key\":3,\"slots_per_key\":null}\n");
    assertThat(checks("valid")).isEqualTo(2);
  }

  @Test
  void aKeyOfASubscriptionThatIsNotActiveIsValid() throws Exception {
    assertThat(check("sk-unpaid").body())
        .startsWith("{\"valid\":true,\"subscription_active\":false,\"plan\":\"pro\",");
  }

  @ParameterizedTest
  @CsvSource({
    "sk-revoked, revoked",
    "sk-expired, expired",
    "sk-nobody, unknown",
    "two words, malformed",
  })
  void aKeyThatIsNotGoodIsToldWhy(String key, String reason) throws Exception {
    HttpResponse<String> answer = check(key);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("{\"valid\":false,\"reason\":\"" + reason + "\"}\n");
    assertThat(checks("invalid")).isEqualTo(1);
  }

  @Test
  void onlyTheHeaderCarriesAKeyAndOnlyAPost() throws Exception {
    assertThat(send("POST", "/key").statusCode()).isEqualTo(400);
    assertThat(send("POST", "/key?key=sk-pro").statusCode()).isEqualTo(400);
    HttpResponse<String> get = send("GET", "/key", "Authorization", "Bearer sk-pro");
    assertThat(get.statusCode()).isEqualTo(405);
    assertThat(get.headers().firstValue("allow")).hasValue("POST");
  }

  @Test
  void whoTriesWrongKeysIsSlowedDownWhateverComesNext() throws Exception {
    for (int i = 0; i < KeyAttempts.AT_ONCE; i++) {
      assertThat(check("sk-pro").body()).contains("\"valid\":true");
      assertThat(check("sk-guess-" + i).body()).contains("\"valid\":false");
    }
    HttpResponse<String> answer = check("sk-pro");

    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(Integer.parseInt(answer.headers().firstValue("retry-after").orElse("")))
        .isEqualTo(10);
    assertThat(answer.body()).startsWith("{\"error\":\"too many wrong keys (expected: again in ");
    assertThat(checks("slowed")).isEqualTo(1);
    assertThat(send("GET", "/status.json").statusCode()).isEqualTo(200);
  }

  @Test
  void whenNobodyCanSayNobodyIsBlamed() throws Exception {
    source.keysUnknown = true;
    for (int i = 0; i < 2 * KeyAttempts.AT_ONCE; i++) {
      HttpResponse<String> answer = check("sk-pro");
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.headers().firstValue("retry-after")).hasValue("5");
    }
    assertThat(checks("failed")).isEqualTo(10);
  }

  @Test
  void whoListensIsToldOfAChange() throws Exception {
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), listener.address().getPort())) {
      socket.setSoTimeout(30_000);
      socket.getOutputStream().write("GET /events HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(US_ASCII));
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
      assertThat(lines.readLine()).isEqualTo("HTTP/1.1 200 OK");
      List<String> head = new ArrayList<>();
      for (String line = lines.readLine(); !line.isEmpty(); line = lines.readLine()) {
        head.add(line);
      }
      assertThat(head)
          .contains(
              "content-type: text/event-stream", "cache-control: no-store", "connection: close");
      awaitLine(lines, "\"id\":\"small\",\"availability\":\"available\"");
      group.next().execute(() -> source.model("small", Availability.UNAVAILABLE));
      awaitLine(lines, "\"id\":\"small\",\"availability\":\"unavailable\"");
      listener.close();
      while (lines.readLine() != null) {
        // what was on its way
      }
    }
  }

  private static void awaitLine(BufferedReader lines, String text) throws IOException {
    for (String line = lines.readLine(); !line.contains(text); line = lines.readLine()) {
      assertThat(line).matches("(event: status|data: .*|: ping|)");
    }
  }

  @Test
  void anAddressThatIsTakenIsNamed() {
    InetSocketAddress taken = listener.address();

    assertThatThrownBy(() -> open(taken))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(
            "status: 127.0.0.1:" + taken.getPort() + " (expected: an address that can be bound): ");
  }
}
