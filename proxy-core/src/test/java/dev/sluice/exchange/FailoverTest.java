package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Probe;
import dev.sluice.cluster.Timeouts;
import dev.sluice.error.Reason;
import dev.sluice.testing.Answer;
import dev.sluice.testing.FakeUpstreams.Upstream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FailoverTest {
  private static final String RETRY_AFTER_7 =
      "HTTP/1.1 503 x\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n";
  private static final String STREAM =
      SseWire.head("transfer-encoding: chunked") + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
  private static final String JSON =
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

  private static Model model(int endpoints, int attempts, @Nullable Duration total) {
    return new Model(
        "small",
        null,
        IntStream.rangeClosed(1, endpoints)
            .mapToObj(i -> new Endpoint("10.0.0." + i, 8000, false, "", null))
            .toList(),
        new Timeouts(Duration.ofSeconds(5), Duration.ofMinutes(5), Duration.ofMinutes(5), total),
        Balance.LEAST_EXCHANGES,
        attempts,
        null,
        "acme",
        Instant.EPOCH);
  }

  private static final Model PROBED =
      new Model(
          "small",
          null,
          model(2, 2, null).endpoints(),
          Timeouts.DEFAULT,
          Balance.LEAST_EXCHANGES,
          2,
          Probe.DEFAULT,
          "acme",
          Instant.EPOCH);

  private static ExchangeFixture stream(int endpoints, int attempts) {
    return ExchangeFixture.of(model(endpoints, attempts, null), true).forward();
  }

  private static String status(int status) {
    return "HTTP/1.1 " + status + " x\r\ncontent-length: 0\r\n\r\n";
  }

  private static String host(Upstream upstream) {
    String request = upstream.received();
    int at = request.indexOf("host: ");
    return request.substring(at, request.indexOf("\r\n", at));
  }

  private static void assertNothingHeld(ExchangeFixture fixture) {
    assertThat(fixture.slots.inUse("free")).isZero();
    assertThat(fixture.budget.heldBytes()).isZero();
    assertThat(fixture.cluster.endpoints()).extracting(LiveEndpoint::openExchanges).containsOnly(0);
    // The whole budget is there again.
    List<Boolean> units = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      units.add(fixture.cluster.tryBeginRetry());
    }
    assertThat(units).containsExactly(true, true, true);
  }

  @ParameterizedTest
  @CsvSource({
    "502, UPSTREAM_BAD_GATEWAY",
    "503, UPSTREAM_UNAVAILABLE",
    "429, UPSTREAM_RATE_LIMITED"
  })
  void aStatusThatAnotherEndpointNeedNotGiveIsTriedThere(int status, Reason reason) {
    try (ExchangeFixture fixture = stream(2, 2)) {
      Upstream first = fixture.upstream();
      first.answer(status(status));
      fixture.run();
      Upstream second = fixture.upstream();

      assertThat(fixture.upstreams.opened()).isEqualTo(2);
      assertThat(first.isActive()).isFalse();
      assertThat(fixture.caller.take()).isEmpty();
      assertThat(fixture.slots.inUse("free")).isEqualTo(1);
      second.answer(STREAM);

      assertThat(fixture.caller.answer().status()).isEqualTo(200);
      assertThat(host(first)).isNotEqualTo(host(second));
      ExchangeSummary summary = fixture.summary();
      assertThat(summary.attempts()).isEqualTo(2);
      assertThat(summary.retried()).isEqualTo(reason);
      assertThat(summary.reason()).isNull();
      assertThat(summary.end()).isEqualTo(End.DONE);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void eachAttemptIsASpanOfItsOwnInOneTrace() {
    try (ExchangeFixture fixture = stream(2, 2)) {
      Upstream first = fixture.upstream();
      fixture.clockNanos += 30;
      first.answer(status(502));
      fixture.run();
      Upstream second = fixture.upstream();
      fixture.clockNanos += 400;
      second.answer(STREAM);

      ExchangeSummary summary = fixture.summary();
      List<AttemptSummary> traced = summary.traced();
      assertThat(traced).hasSize(2);
      assertThat(List.of(traced.get(0).spanId(), traced.get(1).spanId())).doesNotHaveDuplicates();
      for (int i = 0; i < 2; i++) {
        String span = String.format(Locale.ROOT, "%016x", traced.get(i).spanId());
        assertThat((i == 0 ? first : second).received())
            .containsOnlyOnce("\r\ntraceparent: ")
            .contains("\r\ntraceparent: 00-" + summary.trace().traceId() + "-" + span + "-01\r\n");
      }
      AttemptSummary failed = traced.get(0);
      assertThat(failed.status()).isEqualTo(502);
      assertThat(failed.reason()).isEqualTo(Reason.UPSTREAM_BAD_GATEWAY);
      assertThat(failed.startedNanos()).isZero();
      assertThat(failed.durationNanos()).isEqualTo(30);
      AttemptSummary answered = traced.get(1);
      assertThat(answered.status()).isEqualTo(200);
      assertThat(answered.reason()).isNull();
      assertThat(answered.startedNanos()).isEqualTo(30);
      assertThat(answered.durationNanos()).isEqualTo(400);
      assertThat(answered.endpoint()).isEqualTo(summary.endpoint());
    }
  }

  @Test
  void theRequestGoesToTheSecondEndpointWhole() {
    try (ExchangeFixture fixture = stream(2, 2)) {
      fixture.upstream().reset();
      fixture.run();

      assertThat(fixture.upstream().received()).endsWith("\r\n\r\n" + ExchangeFixture.BODY);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "HTTP/1.1 200 OK\r\ncontent-ty",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            + "6\r\ndata: ",
      })
  void aConnectionThatBreaksBeforeTheFirstEventIsTriedElsewhere(String bytes) {
    try (ExchangeFixture fixture = stream(2, 2)) {
      fixture.upstream().answer(bytes);
      fixture.upstream().reset();
      fixture.run();
      assertThat(fixture.upstreams.opened()).isEqualTo(2);
      fixture.upstream().answer(STREAM);

      assertThat(fixture.caller.answer().status()).isEqualTo(200);
      assertThat(fixture.summary().retried()).isEqualTo(Reason.UPSTREAM_CLOSED);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void theFirstEventCommitsTheAnswer() {
    try (ExchangeFixture fixture = stream(2, 2)) {
      fixture
          .upstream()
          .answer(SseWire.head("transfer-encoding: chunked") + "9\r\ndata: 1\n\n\r\n");
      fixture.upstream().reset();
      fixture.run();

      assertThat(fixture.upstreams.opened()).isEqualTo(1);
      assertThat(fixture.caller.take()).contains("data: 1\n\n").contains("upstream_error");
      assertThat(fixture.summary().attempts()).isEqualTo(1);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aWholeAnswerThatBreaksOffIsTriedElsewhereAndNothingOfItIsKept() {
    try (ExchangeFixture fixture = ExchangeFixture.of(model(2, 2, null), false).forward()) {
      fixture.upstream().answer(JSON.replace("length: 2", "length: 9"));
      fixture.run();
      fixture.upstream().reset();
      fixture.run();
      fixture.upstream().answer(JSON);

      Answer answer = fixture.caller.answer();
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("{}");
      assertNothingHeld(fixture);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "500, UPSTREAM_STATUS",
    "504, UPSTREAM_STATUS",
    "401, UPSTREAM_DENIED",
    "404, UPSTREAM_DENIED",
    "400, UPSTREAM_REFUSED",
    "413, UPSTREAM_REFUSED_SIZE"
  })
  void aStatusThatMayHaveDoneTheWorkOrIsTheCallersFaultIsNot(int status, Reason reason) {
    try (ExchangeFixture fixture = stream(2, 2)) {
      fixture.upstream().answer(status(status));
      fixture.run();

      assertThat(fixture.upstreams.opened()).isEqualTo(1);
      assertThat(fixture.caller.answer().status()).isEqualTo(reason.status());
      assertThat(fixture.summary().reason()).isEqualTo(reason);
      assertThat(fixture.summary().attempts()).isEqualTo(1);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void anAnswerThatIsLateIsNot() {
    try (ExchangeFixture fixture = stream(2, 2)) {
      fixture.pass(Duration.ofMinutes(5).toNanos());

      assertThat(fixture.upstreams.opened()).isEqualTo(1);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_FIRST_BYTE_TIMEOUT);
      assertNothingHeld(fixture);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"})
  void anAnswerThatMakesNoSenseIsNot(String bytes) {
    try (ExchangeFixture fixture = stream(2, 2)) {
      fixture.upstream().answer(bytes);

      assertThat(fixture.upstreams.opened()).isEqualTo(1);
      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertNothingHeld(fixture);
    }
  }

  @ParameterizedTest
  @CsvSource({"3, 1, 1", "3, 2, 2", "3, 3, 3", "5, 4, 4", "2, 5, 2", "1, 2, 1"})
  void noMoreEndpointsAreTriedThanThereAreAttempts(int endpoints, int attempts, int tried) {
    try (ExchangeFixture fixture = stream(endpoints, attempts)) {
      for (int i = 0; i < tried; i++) {
        assertThat(fixture.upstreams.opened()).isEqualTo(i + 1);
        fixture.upstream().answer(status(502));
        fixture.run();
      }

      assertThat(fixture.upstreams.opened()).isEqualTo(tried);
      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().attempts()).isEqualTo(tried);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_BAD_GATEWAY);
      assertNothingHeld(fixture);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anAnswerThatCameWholeSpeaksForItsEndpoint(boolean stream) {
    try (ExchangeFixture fixture = ExchangeFixture.of(model(2, 2, null), stream).forward()) {
      List<LiveEndpoint> idle = new ArrayList<>(fixture.cluster.endpoints());
      LiveEndpoint asked =
          idle.stream().filter(one -> one.openExchanges() == 1).findFirst().orElseThrow();
      idle.remove(asked);
      fail(fixture, asked, idle, 4);
      fixture.upstream().answer(stream ? STREAM : JSON);
      fail(fixture, asked, idle, 4);
      assertThat(asked.state(0)).isEqualTo(LiveEndpoint.State.HEALTHY);
      fail(fixture, asked, idle, 1);
      assertThat(asked.state(0)).isEqualTo(LiveEndpoint.State.EJECTED);
    }
  }

  private static void fail(
      ExchangeFixture fixture, LiveEndpoint asked, List<LiveEndpoint> others, int times) {
    for (int i = 0; i < times; i++) {
      assertThat(fixture.cluster.pick(Cluster.NO_PREFIX, others, 0)).isSameAs(asked);
      fixture.cluster.ended(asked, Cluster.Outcome.FAILED, 0, 0);
    }
  }

  @Test
  void theLastFailureIsWhatTheCallerIsTold() {
    try (ExchangeFixture fixture = stream(2, 2)) {
      fixture.upstream().answer(status(502));
      fixture.run();
      fixture.upstream().answer(RETRY_AFTER_7);
      fixture.run();

      Answer answer = fixture.caller.answer();
      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.head()).contains("retry-after: 7\r\n");
    }
  }

  @Test
  void withoutRetryBudgetTheFailureIsTold() {
    try (ExchangeFixture fixture = stream(2, 2)) {
      for (int i = 0; i < 3; i++) {
        assertThat(fixture.cluster.tryBeginRetry()).isTrue();
      }
      fixture.upstream().answer(status(502));
      fixture.run();

      assertThat(fixture.upstreams.opened()).isEqualTo(1);
      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().retryDenied()).isTrue();
    }
  }

  @Test
  void theTimeOfTheWholeExchangeBoundsAllAttempts() {
    try (ExchangeFixture fixture =
        ExchangeFixture.of(model(3, 3, Duration.ofSeconds(60)), true).forward()) {
      fixture.pass(Duration.ofSeconds(40).toNanos());
      fixture.upstream().reset();
      fixture.run();
      fixture.pass(Duration.ofSeconds(20).toNanos() - 1);
      assertThat(fixture.caller.take()).isEmpty();
      fixture.pass(1);

      assertThat(fixture.caller.answer().status()).isEqualTo(502);
      assertThat(fixture.summary().reason()).isEqualTo(Reason.EXCHANGE_TIMEOUT);
      assertThat(fixture.upstream().isActive()).isFalse();
      assertThat(fixture.upstreams.opened()).isEqualTo(2);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void theTimeOfTheWholeExchangeEndsAStreamUnderWay() {
    try (ExchangeFixture fixture =
        ExchangeFixture.of(model(1, 1, Duration.ofSeconds(60)), true).forward()) {
      fixture.upstream().answer(SseWire.head("transfer-encoding: chunked"));
      for (int i = 0; i < 6; i++) {
        fixture.upstream().answer("9\r\ndata: 1\n\n\r\n");
        fixture.pass(Duration.ofSeconds(10).toNanos());
      }

      assertThat(fixture.caller.take()).endsWith("\r\n").contains("upstream_error");
      assertThat(fixture.summary().reason()).isEqualTo(Reason.EXCHANGE_TIMEOUT);
      assertThat(fixture.summary().end()).isEqualTo(End.TIMEOUT);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void aCallerWhoLeavesDuringTheSecondAttemptLeavesNothingBehind() {
    try (ExchangeFixture fixture = stream(2, 2)) {
      fixture.upstream().reset();
      fixture.run();
      fixture.exchange.downstreamClosed();

      assertThat(fixture.upstream().isActive()).isFalse();
      assertThat(fixture.summary().end()).isEqualTo(End.CLIENT);
      assertNothingHeld(fixture);
    }
  }

  @Test
  void withoutAnEndpointTheWaitIsTheTrueOne() {
    try (ExchangeFixture fixture = ExchangeFixture.of(model(2, 2, null), true)) {
      fixture.cluster.endpoints().forEach(LiveEndpoint::eject);
      fixture.forward();

      Answer answer = fixture.caller.answer();
      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.head()).contains("retry-after: 5\r\n"); // nobody knows: the default
      assertThat(fixture.summary().reason()).isEqualTo(Reason.UPSTREAM_NO_ENDPOINT);
      assertThat(fixture.summary().attempts()).isZero();
      assertThat(fixture.upstreams.opened()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({"true, UPSTREAM_CONNECT_TIMEOUT, 9", "false, UPSTREAM_CONNECT, 10"})
  void soItIsWhereTheLastThatWasLeftCannotBeReached(boolean late, Reason reason, int seconds) {
    try (ExchangeFixture fixture = ExchangeFixture.of(PROBED, true)) {
      fixture.exchange.forward(); // the loop does not run: it is not connected
      fixture.clockNanos = Duration.ofSeconds(4).toNanos();
      fixture.timer.tick();
      for (LiveEndpoint endpoint : fixture.cluster.endpoints()) {
        for (int i = 0; i < Probe.DEFAULT.unhealthyAfter(); i++) {
          fixture.cluster.probed(endpoint, "not connected", fixture.clockNanos);
        }
      }
      if (late) {
        fixture.clockNanos = Duration.ofSeconds(5).toNanos();
        fixture.timer.tick();
      } else {
        fixture.upstream().reset();
      }

      assertThat(fixture.summary().reason()).isEqualTo(reason);
      assertThat(fixture.caller.answer().head()).contains("retry-after: " + seconds + "\r\n");
    }
  }
}
