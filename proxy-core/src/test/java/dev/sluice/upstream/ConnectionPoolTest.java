package dev.sluice.upstream;

import static dev.sluice.upstream.RecordingHandler.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Timeouts;
import dev.sluice.testing.Certificate;
import dev.sluice.testing.ScriptedUpstream;
import dev.sluice.testing.ScriptedUpstream.Peer;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionCounts.State;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections over real sockets, to an upstream that does what the test says. */
class ConnectionPoolTest {
  private static final String ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final EventLoop loop = (EventLoop) loops.next();
  private final AtomicLong clockNanos = new AtomicLong();
  private final LoopTimer timer = new LoopTimer(loop, clockNanos::get);
  private final ConnectionCounts counts = new ConnectionCounts();
  private final ScriptedUpstream upstream = ScriptedUpstream.plain();
  private SslContext tls = SslContextBuilder.forClient().build();
  private final ConnectionPool pool =
      new ConnectionPool(
          loop,
          timer,
          new UpstreamTransport(
              NioSocketChannel::new, DefaultAddressResolverGroup.INSTANCE, () -> tls),
          model -> counts);

  ConnectionPoolTest() throws IOException {}

  @AfterEach
  void close() throws Exception {
    upstream.close();
    awaitCount(State.CONNECTING, 0);
    awaitCount(State.ACTIVE, 0);
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(10, TimeUnit.SECONDS);
  }

  @Test
  void aConnectionIsUsedAgainAfterAWholeAnswer() throws Exception {
    RecordingHandler first = acquire();
    Peer peer = upstream.accept();
    assertThat(peer.readTo("\r\n\r\n")).isEqualTo(REQUEST);
    peer.send(ANSWER);
    assertHeard(first, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);

    RecordingHandler second = acquire();
    assertThat(peer.readTo("\r\n\r\n")).isEqualTo(REQUEST);
    peer.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
    assertHeard(second, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);
    assertThat(first.heardNothingMore()).isTrue();
  }

  @Test
  void theConnectionThatWasUsedLastIsUsedFirst() throws Exception {
    RecordingHandler first = acquire();
    Peer one = upstream.accept();
    RecordingHandler second = acquire();
    Peer two = upstream.accept();
    two.send(ANSWER);
    assertHeard(second, "connected", "head 200", "body ok");
    one.send(ANSWER);
    assertHeard(first, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 2);

    one.readTo("\r\n\r\n");
    acquire();
    assertThat(one.readTo("\r\n\r\n")).isEqualTo(REQUEST);
    assertThat(counts.count(State.IDLE)).isEqualTo(1);
    one.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok!",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
        "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK",
      })
  void aConnectionIsNotUsedAgainAfterAnyOtherAnswer(String answer) throws Exception {
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send(answer);

    assertHeard(handler, "connected", "head 200", "body ok");
    assertThat(peer.seesClose()).isTrue();
    awaitCount(State.IDLE, 0);
    assertThat(handler.heardNothingMore()).isTrue();
  }

  @Test
  void connectionsToWhatIsConfiguredNoLongerAreClosedWhenTheyAreIdle() throws Exception {
    RecordingHandler first = acquire();
    Peer idle = upstream.accept();
    idle.readTo("\r\n\r\n");
    RecordingHandler second = acquire();
    Peer busy = upstream.accept();
    busy.readTo("\r\n\r\n");
    idle.send(ANSWER);
    assertHeard(first, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);

    retain(model(plain()));
    awaitCount(State.IDLE, 1);
    retain();
    assertThat(idle.seesClose()).isTrue();
    awaitCount(State.ACTIVE, 1);

    busy.send(ANSWER);
    assertHeard(second, "connected", "head 200", "body ok");
    assertThat(busy.seesClose()).isTrue();
    awaitCount(State.IDLE, 0);
  }

  @Test
  void aConnectionThatAnEarlierConfigurationStillOpensIsNotKept() throws Exception {
    retain();
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send(ANSWER);

    assertHeard(handler, "connected", "head 200", "body ok");
    assertThat(peer.seesClose()).isTrue();
    awaitCount(State.IDLE, 0);
  }

  @Test
  void anEndpointThatComesBackHasConnectionsAgain() throws Exception {
    retain();
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    retain(model(plain()));
    peer.send(ANSWER);
    assertHeard(handler, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);

    acquire();
    assertThat(peer.readTo("\r\n\r\n")).isEqualTo(REQUEST);
  }

  private void retain(Model... models) throws Exception {
    onLoop(
        () -> {
          pool.retain(List.of(models));
          return 0;
        });
  }

  @Test
  void aByteThatComesLaterClosesAnIdleConnection() throws Exception {
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send(ANSWER);
    assertHeard(handler, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);
    peer.send("\n");

    assertThat(peer.seesClose()).isTrue();
    awaitCount(State.IDLE, 0);
    acquire();
    assertThat(upstream.accept().readTo("\r\n\r\n")).isEqualTo(REQUEST);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
      })
  void whatIsNotAnAnswerEndsTheConnection(String answer) throws Exception {
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send(answer);

    assertHeard(handler, "connected", "malformed");
    assertThat(peer.seesClose()).isTrue();
    assertThat(handler.heardNothingMore()).isTrue();
  }

  @Test
  void anAnswerBeforeTheRequestWasSentEndsTheConnection() throws Exception {
    RecordingHandler handler = new RecordingHandler(64 << 20);
    onLoop(() -> pool.acquire(model(plain()), plain(), false, handler));
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send(ANSWER);

    assertHeard(handler, "connected", "head 200", "body ok");
    assertThat(peer.seesClose()).isTrue();
    awaitCount(State.IDLE, 0);
  }

  @Test
  void anAnswerIsReadThoughTheRestOfItsRequestMeetsAReset() throws Exception {
    RecordingHandler handler = new RecordingHandler(64 << 20);
    onLoop(() -> pool.acquire(model(plain()), plain(), false, handler));
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    CountDownLatch bothCame = new CountDownLatch(1);
    loop.execute(() -> assertThat(waitFor(bothCame)).isTrue());
    peer.send("HTTP/1.1 413 X\r\ncontent-length: 2\r\n\r\nno");
    peer.close(); // with bytes unread: that is a reset
    bothCame.countDown();

    assertHeard(handler, "connected", "head 413", "body no");
    awaitCount(State.ACTIVE, 0);
    assertThat(counts.count(State.IDLE)).isZero();
    assertThat(handler.heardNothingMore()).isTrue();
  }

  @Test
  void aResetWhileARequestIsWrittenIsHeardWithoutAnAnswerToo() throws Exception {
    RecordingHandler handler = new RecordingHandler(64 << 20);
    onLoop(() -> pool.acquire(model(plain()), plain(), false, handler));
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.reset();

    assertHeard(handler, "connected", "closed");
    awaitCount(State.ACTIVE, 0);
  }

  private static boolean waitFor(CountDownLatch latch) {
    try {
      return latch.await(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aPooledConnectionThatDiesBeforeAByteIsStaleAndAFreshOneIsNot() throws Exception {
    RecordingHandler first = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send(ANSWER);
    assertHeard(first, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);
    RecordingHandler second = acquire();
    peer.readTo("\r\n\r\n");
    peer.close();
    assertHeard(second, "connected", "stale orderly");

    RecordingHandler third = acquire();
    Peer fresh = upstream.accept();
    fresh.readTo("\r\n\r\n");
    fresh.reset();
    assertHeard(third, "connected", "closed");
  }

  @Test
  void aPooledConnectionThatDiesLaterMayHaveDiedOfTheRequestAndIsNotStale() throws Exception {
    RecordingHandler first = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send(ANSWER);
    assertHeard(first, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);
    RecordingHandler second = acquire();
    peer.readTo("\r\n\r\n");
    pass(Duration.ofMillis(1001));
    peer.close();
    assertHeard(second, "connected", "closed orderly");
  }

  @Test
  void aResetWithinABodyIsNotOrderly() throws Exception {
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\npart");
    assertHeard(handler, "connected", "head 200");
    peer.reset();
    assertHeard(handler, "closed");
  }

  @Test
  void aBodyUntilTheConnectionClosesEndsOrderly() throws Exception {
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\nall");
    peer.close();
    assertHeard(handler, "connected", "head 200", "closed orderly");
  }

  @Test
  void anUpstreamThatListensNowhereIsClosed() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    try (Socket bound = new Socket()) { // the port is taken, and nobody listens
      bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Endpoint nowhere = new Endpoint("127.0.0.1", bound.getLocalPort(), false, "", null);
      onLoop(() -> pool.acquire(model(nowhere), nowhere, false, handler));

      assertHeard(handler, "closed");
    }
  }

  @Test
  void nothingIsHeardOfAConnectionThatIsCancelledWhileItConnects() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    onLoop(
        () -> {
          pool.acquire(model(plain()), plain(), false, handler).cancel();
          return 0;
        });
    RecordingHandler next = acquire();
    Peer peer = upstream.accept();
    peer.send(ANSWER);

    assertHeard(next, "connected", "head 200", "body ok");
    awaitCount(State.CONNECTING, 0);
    assertThat(handler.heardNothingMore()).isTrue();
  }

  @Test
  void anExchangeThatIsCancelledClosesItsConnectionAtOnce() throws Exception {
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart");
    assertHeard(handler, "connected", "head 200");
    onLoop(
        () -> {
          Objects.requireNonNull(handler.connection).cancel();
          return 0;
        });

    assertThat(peer.seesClose()).isTrue();
    assertThat(handler.heardNothingMore()).isTrue();
  }

  @Test
  void anIdleConnectionIsClosedAfterHalfAMinute() throws Exception {
    RecordingHandler handler = acquire();
    Peer peer = upstream.accept();
    peer.readTo("\r\n\r\n");
    peer.send(ANSWER);
    assertHeard(handler, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);

    pass(Duration.ofSeconds(2));
    pass(Duration.ofSeconds(27));
    assertThat(counts.count(State.IDLE)).isEqualTo(1);
    pass(Duration.ofSeconds(3));
    assertThat(counts.count(State.IDLE)).isZero();
    assertThat(peer.seesClose()).isTrue();
  }

  @Test
  void everyIdleConnectionIsClosedWhenAsked() throws Exception {
    RecordingHandler idle = acquire();
    Peer idlePeer = upstream.accept();
    RecordingHandler busy = acquire();
    Peer busyPeer = upstream.accept();
    idlePeer.send(ANSWER);
    assertHeard(idle, "connected", "head 200", "body ok");
    awaitCount(State.IDLE, 1);
    onLoop(
        () -> {
          pool.closeIdle();
          return 0;
        });

    assertThat(idlePeer.seesClose()).isTrue();
    busyPeer.send(ANSWER);
    assertHeard(busy, "connected", "head 200", "body ok");
  }

  // TLS.

  @Test
  void anUpstreamWithTheRightNameIsTrusted() throws Exception {
    Certificate certificate = new Certificate("localhost");
    tls = SslContextBuilder.forClient().trustManager(certificate.trust()).build();
    try (ScriptedUpstream secure = secure(certificate)) {
      RecordingHandler handler = acquire(new Endpoint("localhost", secure.port(), true, "", null));
      Peer peer = secure.accept();
      assertThat(peer.readTo("\r\n\r\n")).isEqualTo(REQUEST);
      peer.send(ANSWER);

      assertHeard(handler, "connected", "head 200", "body ok");
      awaitCount(State.IDLE, 1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost", "127.0.0.1"})
  void anUpstreamWithAnotherNameIsNotSentTheRequest(String host) throws Exception {
    Certificate certificate = new Certificate("elsewhere.example");
    tls = SslContextBuilder.forClient().trustManager(certificate.trust()).build();
    try (ScriptedUpstream secure = secure(certificate)) {
      RecordingHandler handler = acquire(new Endpoint(host, secure.port(), true, "", null));

      assertRefused(secure, handler);
    }
  }

  @Test
  void anUpstreamThatNobodyVouchesForIsNotSentTheRequest() throws Exception {
    try (ScriptedUpstream secure = secure(new Certificate("localhost"))) {
      RecordingHandler handler = acquire(new Endpoint("localhost", secure.port(), true, "", null));

      assertRefused(secure, handler);
    }
  }

  @Test
  void anUpstreamThatSpeaksNoTlsIsNotSentTheRequest() throws Exception {
    RecordingHandler handler = acquire(new Endpoint("localhost", upstream.port(), true, "", null));
    Peer peer = upstream.accept();
    peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");

    assertHeard(handler, "closed");
    assertThat(peer.seesClose()).isTrue();
  }

  @Test
  void aConnectionThatIsCancelledWithinItsTlsHandshakeIsClosed() throws Exception {
    Endpoint silent = new Endpoint("localhost", upstream.port(), true, "", null);
    RecordingHandler handler = new RecordingHandler();
    UpstreamConnection connecting =
        onLoop(() -> pool.acquire(model(silent), silent, false, handler));
    Peer peer = upstream.accept();
    onLoop(
        () -> {
          connecting.cancel();
          return 0;
        });

    assertThat(peer.seesClose()).isTrue();
    awaitCount(State.CONNECTING, 0);
    assertThat(handler.heardNothingMore()).isTrue();
  }

  private static ScriptedUpstream secure(Certificate certificate)
      throws IOException, GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(certificate.keys().getKeyManagers(), null, null);
    return new ScriptedUpstream(
        context
            .getServerSocketFactory()
            .createServerSocket(0, 50, InetAddress.getLoopbackAddress()));
  }

  /** The upstream sees the handshake fail, and no byte of the request. */
  private static void assertRefused(ScriptedUpstream secure, RecordingHandler handler)
      throws Exception {
    Peer peer = secure.accept();
    try {
      assertThat(peer.readTo("\n")).isEmpty();
    } catch (IOException | AssertionError e) {
      assertThat(e).hasMessageNotContaining("POST");
    }
    assertHeard(handler, "closed");
  }

  private Endpoint plain() {
    return new Endpoint("127.0.0.1", upstream.port(), false, "", null);
  }

  private static Model model(Endpoint endpoint) {
    return new Model(
        "small",
        null,
        List.of(endpoint),
        Timeouts.DEFAULT,
        Balance.LEAST_EXCHANGES,
        Model.DEFAULT_ATTEMPTS,
        null,
        "acme",
        Instant.EPOCH);
  }

  private RecordingHandler acquire() throws Exception {
    return acquire(plain());
  }

  private RecordingHandler acquire(Endpoint endpoint) throws Exception {
    RecordingHandler handler = new RecordingHandler();
    onLoop(() -> pool.acquire(model(endpoint), endpoint, false, handler));
    return handler;
  }

  private <T> T onLoop(Callable<T> task) throws Exception {
    return loop.submit(task).get(10, TimeUnit.SECONDS);
  }

  private void pass(Duration time) throws Exception {
    clockNanos.addAndGet(time.toNanos());
    onLoop(
        () -> {
          timer.tick();
          return 0;
        });
  }

  /** What a handler heard was told within a task of the loop: behind it the count is settled. */
  private void awaitCount(State state, int expected) throws Exception {
    onLoop(() -> 0);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (counts.count(state) != expected && System.nanoTime() < deadline) {
      onLoop(() -> 0);
    }
    assertThat(counts.count(state)).isEqualTo(expected);
  }

  private static void assertHeard(RecordingHandler handler, String... expected)
      throws InterruptedException {
    for (String one : expected) {
      assertThat(handler.next()).isEqualTo(one);
    }
  }
}
