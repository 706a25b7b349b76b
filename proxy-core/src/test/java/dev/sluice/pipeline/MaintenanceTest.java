package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.STREAM_BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.testing.Answer;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What callers are told while an operator has taken a model, or all of them, out of service. */
class MaintenanceTest {
  private static final String CHAT = "/v1/chat/completions";

  private final PipelineFixture edge = new PipelineFixture();
  private final Maintenance maintenance = edge.state.maintenance();

  @AfterEach
  void close() {
    edge.close();
  }

  private void set(String model, Duration length) {
    maintenance.set(model, length.toNanos());
  }

  private void assertMaintenance(int seconds) {
    Answer answer = edge.answer();
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.head()).contains("\r\nretry-after: " + seconds + "\r\n");
    assertThat(answer.body()).contains("maintenance").contains("overloaded_error");
    assertThat(edge.channel.connection()).isEqualTo("open");
    assertThat(edge.summary().reason()).isEqualTo(Reason.MAINTENANCE);
    assertThat(edge.summary().stream()).isFalse();
    assertThat(edge.upstreams.opened()).isZero();
    edge.summaries.clear();
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /v1/models", "GET /nowhere", "DELETE /v1/messages"})
  void ofAllModelsIsSaidToEveryRequestBeforeItsKeyIsLookedAt(String start) {
    set(Maintenance.ALL, Duration.ofMinutes(10));
    edge.send(start + " HTTP/1.1\r\nHost: h\r\n\r\n");

    assertMaintenance(600);
  }

  @ParameterizedTest
  @CsvSource({"PT0.000000001S, 600", "PT1S, 599", "PT9M59S, 1", "PT9M59.999999999S, 1"})
  void theSecondsAreThoseThatRemainRoundedUp(Duration passed, int seconds) {
    set(Maintenance.ALL, Duration.ofMinutes(10));
    edge.clockNanos += passed.toNanos();
    edge.send(get("/v1/models"));

    assertMaintenance(seconds);
  }

  @Test
  void itEndsByItself() {
    set(Maintenance.ALL, Duration.ofMinutes(10));
    set("small", Duration.ofMinutes(10));
    edge.clockNanos += Duration.ofMinutes(10).toNanos();

    edge.send(get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(200);
    edge.send(post(CHAT, BODY));
    assertThat(edge.upstreams.opened()).isEqualTo(1);
    assertThat(maintenance.remainingSeconds()).isEmpty();
  }

  @Test
  void itsEndCanBeMovedAndItCanBeEnded() {
    set(Maintenance.ALL, Duration.ofMinutes(10));
    set(Maintenance.ALL, Duration.ofSeconds(30));
    edge.send(get("/v1/models"));
    assertMaintenance(30);

    set(Maintenance.ALL, Duration.ZERO);
    edge.send(get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofOneModelIsSaidToItsRequestsAloneAndTakesNoSlot(boolean stream) {
    String body = stream ? STREAM_BODY : BODY;
    set("small", Duration.ofSeconds(90));
    edge.key("sk-pro", "pro", true);
    edge.send(post(CHAT, body));
    assertMaintenance(90);
    assertThat(edge.slots.inUse("free")).isZero();

    edge.send(get("/v1/models/small"));
    assertThat(edge.answer().status()).isEqualTo(200);
    edge.send(post(CHAT, body.replace("small", "big")).replace("sk-good", "sk-pro"));
    assertThat(edge.upstreams.opened()).isEqualTo(1);
  }

  @Test
  void ofOneModelIsToldToThoseAloneWhoMayUseIt() {
    set("big", Duration.ofSeconds(90));
    edge.send(post(CHAT, BODY.replace("small", "big")));
    assertThat(edge.answer().status()).isEqualTo(403);

    edge.send(post(CHAT, BODY.replace("small", "none")));
    assertThat(edge.answer().status()).isEqualTo(404);
  }

  @Test
  void whatRunsGoesOn() {
    edge.send(post(CHAT, STREAM_BODY));
    set(Maintenance.ALL, Duration.ofSeconds(90));
    set("small", Duration.ofSeconds(90));
    edge.upstreams
        .last()
        .answer(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
                + "\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");

    assertThat(edge.answer().body()).isEqualTo("data: [DONE]\n\n");
    edge.summaries.clear();
    edge.send(get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(503);
  }

  @Test
  void whatIsOnIsListedWithItsSeconds() {
    set("small", Duration.ofSeconds(90));
    set(Maintenance.ALL, Duration.ofMillis(1));

    assertThat(maintenance.remainingSeconds()).isEqualTo(Map.of(Maintenance.ALL, 1L, "small", 90L));
    assertThat(maintenance.remainingSeconds("big")).isZero();
  }
}
