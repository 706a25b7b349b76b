package dev.sluice.admin;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.page.LiveEvents;
import dev.sluice.page.PageListener;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Operators and others at the admin address, over real sockets. */
@Timeout(60)
class AdminListenerTest {
  private final AtomicReference<Readiness> readiness = new AtomicReference<>(Readiness.READY);
  private final Metrics metrics = new Metrics("1.2.3", ByteBufAllocator.DEFAULT, readiness::get);
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final HttpClient client = HttpClient.newHttpClient();
  private final FakeOperations operations = new FakeOperations();
  private PageListener listener;

  @BeforeEach
  void open() throws IOException {
    listener = open(anyPort(), Duration.ofSeconds(30));
  }

  @AfterEach
  void close() {
    listener.close();
    metrics.close();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  @Test
  void healthIsOkInEveryReadiness() throws Exception {
    for (Readiness state : Readiness.values()) {
      readiness.set(state);
      assertAnswer(send("GET", "/healthz"), 200, "text/plain; charset=utf-8", "ok\n");
    }
  }

  @Test
  void readinessIs503WithItsReasonUntilReadyAndAfter() throws Exception {
    readiness.set(Readiness.STARTING);
    assertAnswer(send("GET", "/readyz"), 503, "text/plain; charset=utf-8", "starting\n");
    readiness.set(Readiness.READY);
    assertAnswer(send("GET", "/readyz"), 200, "text/plain; charset=utf-8", "ready\n");
    readiness.set(Readiness.MAINTENANCE);
    assertAnswer(send("GET", "/readyz"), 503, "text/plain; charset=utf-8", "maintenance\n");
    readiness.set(Readiness.DRAINING);
    assertAnswer(send("GET", "/readyz"), 503, "text/plain; charset=utf-8", "draining\n");
  }

  @Test
  void theConfigurationIsJson() throws Exception {
    assertAnswer(send("GET", "/config"), 200, "application/json", "{\"version\":1}\n");
  }

  @Test
  void theOpenExchangesAreJson() throws Exception {
    assertAnswer(
        send("GET", "/exchanges"),
        200,
        "application/json",
        "{\"total\":3,\"exchanges\":["
            + "{\"request_id\":\"req_1\",\"age_seconds\":90,\"operation\":\"messages\","
            + "\"model\":\"small\",\"plan\":\"free\",\"key\":\"acme\",\"phase\":\"answering\","
            + "\"stream\":true,\"endpoint\":\"10.0.0.7:8000\",\"attempts\":1,\"bytes_in\":11,"
            + "\"bytes_out\":22,\"events\":33},"
            + "{\"request_id\":\"req_2\",\"age_seconds\":0,\"operation\":\"unknown\","
            + "\"model\":null,\"plan\":null,\"key\":null,\"phase\":\"open\",\"stream\":false,"
            + "\"endpoint\":null,\"attempts\":0,\"bytes_in\":0,\"bytes_out\":0,\"events\":0}]}\n");
    assertThat(send("POST", "/exchanges").statusCode()).isEqualTo(405);
  }

  @Test
  void theOperatorsPageIsThereWithItsFiles() throws Exception {
    for (String path : List.of("/", "/operator.js", "/live.js", "/page.css", "/icon.svg")) {
      HttpResponse<String> answer = send("GET", path);
      assertThat(answer.statusCode()).as(path).isEqualTo(200);
      assertThat(answer.body().replace("http://www.w3.org/2000/svg", ""))
          .doesNotContain("http:", "https:", "url(", "style=");
      assertThat(answer.headers().firstValue("content-security-policy").orElse(""))
          .startsWith("default-src 'none'; ");
      assertThat(send("POST", path).statusCode()).isEqualTo(405);
    }
  }

  @Test
  void metricsArePrometheusTextWhereNothingElseIsAskedFor() throws Exception {
    HttpResponse<String> answer = send("GET", "/metrics");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type"))
        .hasValue("text/plain; version=0.0.4; charset=utf-8");
    assertThat(answer.body()).contains("\nsluice_ready 1.0\n").doesNotContain("# EOF");
  }

  @Test
  void metricsAreOpenMetricsWhereAskedFor() throws Exception {
    for (String accept :
        List.of(
            "application/openmetrics-text",
            "Application/OpenMetrics-Text; version=1.0.0",
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
                + "text/plain;version=0.0.4;q=0.2,*/*;q=0.1")) {
      HttpResponse<String> answer = send("GET", "/metrics", "Accept", accept);

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().firstValue("content-type"))
          .hasValue("application/openmetrics-text; version=1.0.0; charset=utf-8");
      assertThat(answer.body()).contains("# TYPE sluice_ready gauge\n").endsWith("# EOF\n");
    }
  }

  @Test
  void anythingElseThatIsAcceptedIsPrometheusText() throws Exception {
    for (String accept :
        List.of("*/*", "text/html", "application/vnd.google.protobuf;encoding=delimited", ";,=")) {
      assertThat(send("GET", "/metrics", "Accept", accept).headers().firstValue("content-type"))
          .hasValue("text/plain; version=0.0.4; charset=utf-8");
    }
  }

  @Test
  void headIsTheHeadOfGetWithoutItsBody() throws Exception {
    for (String path : List.of("/metrics", "/healthz", "/readyz", "/config", "/", "/exchanges")) {
      HttpResponse<String> head = send("HEAD", path);
      HttpResponse<String> get = send("GET", path);

      assertThat(head.statusCode()).isEqualTo(get.statusCode());
      assertThat(head.body()).isEmpty();
      assertThat(head.headers().firstValueAsLong("content-length").getAsLong()).isPositive();
      assertThat(head.headers().firstValue("content-type"))
          .isEqualTo(get.headers().firstValue("content-type"));
    }
  }

  @Test
  void aQueryDoesNotChangeThePath() throws Exception {
    assertThat(send("GET", "/readyz?verbose").statusCode()).isEqualTo(200);
  }

  @Test
  void anUnknownPathIs404AndIsNotRepeated() throws Exception {
    for (String path :
        List.of(
            "/index.html",
            "/status.js",
            "/metrics/",
            "//metrics",
            "/METRICS",
            "/v1/models",
            "/%6detrics",
            "/x<y>")) {
      String answer = raw("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");

      assertThat(answer).as(path).startsWith("HTTP/1.1 404 Not Found\r\n");
      assertThat(answer)
          .contains("\r\n\r\nno such path (expected: /, /metrics, /healthz, /readyz, /config, ")
          .doesNotContain("x<y>");
    }
  }

  @Test
  void anotherMethodIs405WithTheOnesThatAre() throws Exception {
    for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "FOO")) {
      HttpResponse<String> answer = send(method, "/metrics");

      assertThat(answer.statusCode()).as(method).isEqualTo(405);
      assertThat(answer.headers().firstValue("allow")).hasValue("GET, HEAD");
    }
  }

  @Test
  void aCallIsAnsweredWithWhatIsTrueThen() throws Exception {
    assertAnswer(
        send("POST", "/maintenance?for=10s&model=small"),
        200,
        "application/json",
        "{\"maintenance\":[{\"model\":\"small\",\"remaining_seconds\":10}]}\n");
    assertAnswer(
        send("GET", "/maintenance"),
        200,
        "application/json",
        "{\"maintenance\":[{\"model\":\"small\",\"remaining_seconds\":10}]}\n");
    assertThat(operations.done).containsExactly("maintain small PT10S");
  }

  @Test
  void aCallThatIsRefusedSaysWhy() throws Exception {
    assertAnswer(
        send("POST", "/maintenance"),
        400,
        "application/json",
        "{\"error\":\"for: nothing (expected: a duration from 0ms to 24h, as in 10s; units ms, s,"
            + " m, h)\"}\n");
    HttpResponse<String> answer = send("PUT", "/drain");
    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.headers().firstValue("allow")).hasValue("GET, HEAD, POST");
    assertThat(send("POST", "/nowhere").statusCode()).isEqualTo(404);
    assertThat(send("POST", "/drain", "Sec-Fetch-Site", "cross-site").statusCode()).isEqualTo(403);
    assertThat(operations.done).isEmpty();
  }

  @Test
  void whatIsNotHttpIs400AndTheConnectionEnds() throws Exception {
    assertThat(raw("hello\r\n\r\n")).startsWith("HTTP/1.1 400 Bad Request\r\n");
    assertThat(raw("GET /healthz HTTP/1.1\r\nbad name: x\r\n\r\n"))
        .startsWith("HTTP/1.1 400 Bad Request\r\n");
    assertThat(raw("GET /" + "a".repeat(5_000) + " HTTP/1.1\r\n\r\n"))
        .startsWith("HTTP/1.1 400 Bad Request\r\n");
    assertThat(raw("GET /healthz HTTP/1.1\r\nx: " + "a".repeat(9_000) + "\r\n\r\n"))
        .startsWith("HTTP/1.1 400 Bad Request\r\n");
  }

  @Test
  void aBodyPastItsBoundIsNotGathered() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri("/healthz"))
            .POST(BodyPublishers.ofByteArray(new byte[9 << 10]))
            .build();

    assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(413);
  }

  @Test
  void pipelinedRequestsGetOneAnswerAndTheEnd() throws Exception {
    String answers = raw("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100));

    assertThat(answers).containsOnlyOnce("HTTP/1.1 200 OK").contains("connection: close\r\n");
  }

  @Test
  void aConnectionThatSaysNothingEndsInTime() throws Exception {
    try (PageListener brief = open(anyPort(), Duration.ofMillis(50));
        Socket socket = connect(brief)) {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void connectionsPastTheBoundEndAtOnce() throws Exception {
    List<Socket> sockets = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      sockets.add(connect(listener));
    }
    try (Socket oneMore = connect(listener)) {
      assertThat(oneMore.getInputStream().read()).isEqualTo(-1);
    }
    sockets.get(0).getOutputStream().write("GET /healthz HTTP/1.0\r\n\r\n".getBytes(US_ASCII));
    assertThat(sockets.get(0).getInputStream().readAllBytes()).isNotEmpty();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  @Test
  void anAddressThatIsTakenIsNamed() {
    InetSocketAddress taken = listener.address();

    assertThatThrownBy(() -> open(taken, Duration.ofSeconds(30)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(
            "admin: 127.0.0.1:" + taken.getPort() + " (expected: an address that can be bound): ");
  }

  @Test
  void closingEndsOpenConnectionsAndListening() throws Exception {
    try (Socket socket = connect(listener)) {
      // Answered after the connection was accepted, so the listener knows it.
      send("GET", "/healthz");
      listener.close();
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
    // NIO gives a closed channel's port back with its loop's next turn, or with its end.
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();

    assertThatThrownBy(() -> send("GET", "/healthz")).isInstanceOf(ConnectException.class);
  }

  private PageListener open(InetSocketAddress address, Duration life) throws IOException {
    EventLoop loop = group.next();
    return PageListener.open(
        "admin",
        loop,
        NioServerSocketChannel.class,
        address,
        new AdminRoutes(
            metrics,
            readiness::get,
            () -> "{\"version\":1}\n",
            new Parts(operations),
            new Calls(operations, new AccessRule(() -> null))),
        new LiveEvents(loop, Map.of(), 0),
        new PageListener.Bounds(64, life, life));
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress().getHostAddress(), 0);
  }

  private static Socket connect(PageListener listener) throws IOException {
    Socket socket = new Socket(listener.address().getAddress(), listener.address().getPort());
    socket.setSoTimeout(30_000);
    return socket;
  }

  private String raw(String request) throws IOException {
    try (Socket socket = connect(listener)) {
      socket.getOutputStream().write(request.getBytes(US_ASCII));
      InputStream answer = socket.getInputStream();
      return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private HttpResponse<String> send(String method, String path, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(path)).method(method, BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + listener.address().getPort() + path);
  }

  private static void assertAnswer(
      HttpResponse<String> answer, int status, String contentType, String body) {
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.headers().firstValue("content-type")).hasValue(contentType);
    assertThat(answer.body()).isEqualTo(body);
  }
}
