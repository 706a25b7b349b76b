package dev.sluice.upstream;

import static dev.sluice.cluster.LiveEndpoint.State.HEALTHY;
import static dev.sluice.cluster.LiveEndpoint.State.UNWELL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Catalog;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Probe;
import dev.sluice.cluster.Timeouts;
import dev.sluice.testing.FakeUpstreams;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionCounts.State;
import io.netty.channel.ChannelException;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Probes of upstreams that do what the test says, in the test's time. */
class HealthProbesTest {
  private static final String OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n";
  private static final String BAD = "HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n";
  private static final Probe PROBE =
      new Probe("/health", Duration.ofSeconds(5), Duration.ofSeconds(2), 2, 3);

  private final FakeUpstreams upstreams = new FakeUpstreams();
  private final EmbeddedChannel loop = new EmbeddedChannel();
  private long nowNanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(12);
  private final LoopTimer timer = new LoopTimer(loop.eventLoop(), () -> nowNanos);
  private final ConnectionCounts counts = new ConnectionCounts();
  private final HealthProbes probes =
      new HealthProbes(
          loop.eventLoop(),
          timer,
          new ConnectionPool(loop.eventLoop(), timer, upstreams.transport(), model -> counts));

  @AfterEach
  void close() {
    probes.stop();
    run();
    upstreams.close();
    loop.finishAndReleaseAll();
    assertThat(counts.count(State.CONNECTING) + counts.count(State.ACTIVE)).isZero();
  }

  @Test
  void aProbeIsASmallRequestOfItsOwn() {
    follow(new Endpoint("10.0.0.1", 8000, false, "/base", "secret"));

    assertThat(upstreams.last().received())
        .isEqualTo(
            """
            GET /base/health HTTP/1.1
            host: 10.0.0.1:8000
            authorization: Bearer secret
            user-agent: sluice-probe
            connection: close

            """
                .replace("\n", "\r\n"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"200 OK", "204 No Content", "299 Fine"})
  void anyStatusOf2xxIsWell(String status) {
    LiveEndpoint endpoint = follow(endpoint());
    upstreams.last().answer("HTTP/1.1 " + status + "\r\n\r\n");

    assertThat(endpoint.probes(true)).isEqualTo(1);
    assertThat(endpoint.probes(false)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"199 Hm", "101 Switching", "302 Found", "404 Not Found", "503 Busy"})
  void anyOtherIsNot(String status) {
    LiveEndpoint endpoint = follow(endpoint());
    upstreams.last().answer("HTTP/1.1 " + status + "\r\ncontent-length: 0\r\n\r\n");
    passMillis(2250);

    assertThat(endpoint.probes(true)).isZero();
    assertThat(endpoint.probes(false)).isEqualTo(1);
  }

  @Test
  void whatIsNotHttpOrBreaksOffIsNot() {
    LiveEndpoint endpoint = follow(endpoint());
    upstreams.last().answer("SSH-2.0\r\n\r\n");
    assertThat(endpoint.probes(false)).isEqualTo(1);
    passMillis(5000);
    upstreams.last().reset();
    run();
    assertThat(endpoint.probes(false)).isEqualTo(2);
    passMillis(5000);
    upstreams.last().answer("HTTP/1.1 200 O");
    upstreams.last().close();
    run();
    assertThat(endpoint.probes(false)).isEqualTo(3);
    assertThat(endpoint.state(nowNanos)).isEqualTo(UNWELL);
  }

  @Test
  void anEndpointThatCannotBeConnectedIsNotAndIsAskedAgain() {
    HealthProbes failing =
        new HealthProbes(
            loop.eventLoop(),
            timer,
            new ConnectionPool(
                loop.eventLoop(),
                timer,
                new UpstreamTransport(
                    () -> {
                      throw new ChannelException("no file descriptor is left");
                    },
                    upstreams.transport().resolver(),
                    upstreams.transport().tls()),
                model -> counts));
    Catalog catalog = catalog(null, PROBE, endpoint());
    failing.follow(catalog);
    run();
    for (int i = 1; i <= 3; i++) {
      assertThat(endpointOf(catalog).probes(false)).isEqualTo(i);
      passMillis(5000);
    }
    assertThat(endpointOf(catalog).state(nowNanos)).isEqualTo(UNWELL);
    failing.stop();
  }

  @Test
  void nothingOfABodyIsRead() {
    LiveEndpoint endpoint = follow(endpoint());
    upstreams.last().answer(OK + "x".repeat(100_000));

    assertThat(endpoint.probes(true)).isEqualTo(1);
    assertThat(upstreams.last().isActive()).isFalse();
    assertThat(counts.count(State.IDLE)).isZero();
  }

  @Test
  void anAnswerThatIsLateIsNone() {
    LiveEndpoint endpoint = follow(endpoint());
    FakeUpstreams.Upstream late = upstreams.last();
    passMillis(1999);
    assertThat(endpoint.probes(false)).isZero();
    passMillis(1);
    assertThat(endpoint.probes(false)).isEqualTo(1);
    assertThat(late.isActive()).isFalse();
  }

  @Test
  void theNextProbeComesTheIntervalAfterTheEndOfTheLastOverANewConnection() {
    follow(endpoint());
    passMillis(1500);
    upstreams.last().answer(OK);
    passMillis(4999);
    assertThat(upstreams.opened()).isEqualTo(1);
    passMillis(1);
    assertThat(upstreams.opened()).isEqualTo(2);
    assertThat(upstreams.last().received()).startsWith("GET /health HTTP/1.1\r\n");
  }

  @Test
  void anEndpointIsUsedUntilProbesSayOtherwiseAndAgainWhenTheySaySo() {
    LiveEndpoint endpoint = follow(endpoint());
    for (int i = 0; i < 3; i++) {
      assertThat(endpoint.state(nowNanos)).isEqualTo(HEALTHY);
      answer(BAD);
    }
    assertThat(endpoint.state(nowNanos)).isEqualTo(UNWELL);
    answer(OK);
    assertThat(endpoint.state(nowNanos)).isEqualTo(UNWELL);
    answer(OK);
    assertThat(endpoint.state(nowNanos)).isEqualTo(HEALTHY);
  }

  @Test
  void aReloadKeepsWhatProbesSaidAndAsksAtOnce() {
    Catalog before = catalog(null, PROBE, endpoint());
    follow(before);
    answer(BAD);
    answer(BAD);
    answer(BAD);
    FakeUpstreams.Upstream asked = upstreams.last();

    Catalog after = catalog(before, PROBE, endpoint());
    follow(after);
    assertThat(asked.isActive()).isFalse();
    assertThat(endpointOf(after).state(nowNanos)).isEqualTo(UNWELL);
    answer(OK);
    answer(OK);
    assertThat(endpointOf(after).state(nowNanos)).isEqualTo(HEALTHY);
  }

  @Test
  void whatIsProbedNoLongerIsTakenAsWell() {
    Catalog before = catalog(null, PROBE, endpoint());
    follow(before);
    answer(BAD);
    answer(BAD);
    answer(BAD);
    int opened = upstreams.opened();

    Catalog after = catalog(before, null, endpoint());
    follow(after);
    passMillis(20_000);
    assertThat(endpointOf(after).state(nowNanos)).isEqualTo(HEALTHY);
    assertThat(upstreams.opened()).isEqualTo(opened);
  }

  @Test
  void afterTheStopNothingIsAsked() {
    LiveEndpoint endpoint = follow(endpoint());
    FakeUpstreams.Upstream asked = upstreams.last();
    probes.stop();
    run();
    assertThat(asked.isActive()).isFalse();

    passMillis(20_000);
    assertThat(upstreams.opened()).isEqualTo(1);
    assertThat(endpoint.probes(false)).isZero();
  }

  /** Answers the probe that is under way, and comes to the next one. */
  private void answer(String answer) {
    upstreams.last().answer(answer);
    passMillis(5000);
  }

  private static Endpoint endpoint() {
    return new Endpoint("10.0.0.1", 8000, false, "", null);
  }

  private static Catalog catalog(
      @Nullable Catalog before, @Nullable Probe probe, Endpoint endpoint) {
    Model model =
        new Model(
            "small",
            null,
            List.of(endpoint),
            Timeouts.DEFAULT,
            Balance.LEAST_EXCHANGES,
            Model.DEFAULT_ATTEMPTS,
            probe,
            "acme",
            Instant.EPOCH);
    return new Catalog(List.of(model), before);
  }

  private static LiveEndpoint endpointOf(Catalog catalog) {
    return catalog.clusters().get(0).endpoints().get(0);
  }

  private LiveEndpoint follow(Endpoint endpoint) {
    Catalog catalog = catalog(null, PROBE, endpoint);
    follow(catalog);
    return endpointOf(catalog);
  }

  private void follow(Catalog catalog) {
    probes.follow(catalog);
    run();
  }

  private void passMillis(long millis) {
    nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
    timer.tick();
    run();
  }

  private void run() {
    loop.runPendingTasks();
  }
}
