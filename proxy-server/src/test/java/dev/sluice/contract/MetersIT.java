package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.UNKNOWN;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Metrics;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an operator sees: the admin listener and its meters. */
class MetersIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static void awaitOneMore(Metrics before, String... labels) {
    SCENE
        .sluice()
        .awaitMetrics(
            "one more request with " + String.join(", ", labels),
            after ->
                after.sum("sluice_requests_total", labels)
                    == before.sum("sluice_requests_total", labels) + 1);
  }

  @Test
  void everyMeterOfTheContractIsThere() {
    SCENE.upstream.answers(Script.stream("data: 1\n\n", Script.DONE));
    SCENE.exchange(stream(CHAT, "small"));
    SCENE.exchange(chat("small").key(UNKNOWN));
    SCENE
        .sluice()
        .awaitMetrics(
            "the stream is counted", metrics -> metrics.sum("sluice_streams_ended_total") > 0);
    Metrics metrics = SCENE.sluice().metrics();
    assertThat(
            List.of(
                "sluice_stream_slots_in_use{plan=\"free\"}",
                "sluice_stream_slots_limit{plan=\"free\"}",
                "sluice_stream_slots_rejected_total{plan=\"free\"}",
                "sluice_requests_total{model=\"small\"",
                "sluice_request_duration_seconds_bucket{model=\"small\"",
                "sluice_time_to_first_byte_seconds_bucket{model=\"small\"",
                "sluice_streams_ended_total{cause=\"done\",model=\"small\"}",
                "sluice_key_cache_total{result=\"hit\"}",
                "sluice_upstream_connections{model=\"small\",state=\"idle\"}",
                "sluice_keys_reload_total{result=\"ok\"}",
                "jvm_memory_used_bytes{",
                "process_uptime_seconds{",
                "netty_allocator_memory_used{"))
        .allSatisfy(name -> assertThat(metrics.toString().contains(name)).as(name).isTrue());
  }

  @Test
  void anExchangeIsCountedWithItsOperationModelPlanStatusAndReason() {
    Metrics before = SCENE.metricsAtRest();

    SCENE.exchange(chat("small").key(FREE));

    awaitOneMore(
        before,
        "operation=\"chat_completions\"",
        "model=\"small\"",
        "plan=\"free\"",
        "status=\"200\"");
  }

  @Test
  void whatIsNotConfiguredIsNeverALabelValue() {
    Metrics before = SCENE.metricsAtRest();
    for (int i = 0; i < 5; i++) {
      SCENE.exchange(chat("made-up-model-" + i));
      SCENE.exchange(Request.get("/made-up-path-" + i).key(FREE));
      SCENE.exchange(Request.of("MADEUPMETHOD" + i, "/v1/models").key(UNKNOWN + "made-up" + i));
    }
    SCENE
        .sluice()
        .awaitMetrics(
            "fifteen refusals",
            after ->
                after.sum("sluice_requests_total") == before.sum("sluice_requests_total") + 15);
    Metrics after = SCENE.sluice().metrics();

    assertThat(after.toString().toLowerCase(Locale.ROOT))
        .doesNotContain("made-up")
        .doesNotContain("madeup");
    assertThat(after.has("sluice_requests_total", "model=\"unknown\"", "status=\"404\"")).isTrue();
  }

  @Test
  void aRequestThatIsNoHttpIsCountedToo() {
    Metrics before = SCENE.metricsAtRest();

    SCENE.exchange(list().rawHeader("X-A : 1"));

    awaitOneMore(before, "status=\"400\"", "reason=\"http_malformed\"");
  }

  @Test
  void healthIsTold() {
    assertThat(SCENE.sluice().admin("/healthz").status()).isEqualTo(200);
    assertThat(SCENE.sluice().admin("/readyz").status()).isEqualTo(200);
    assertThat(SCENE.sluice().admin("/v1/models").status()).isEqualTo(404);
  }

  @Test
  void openMetricsAreGivenToThoseWhoAsk() {
    Answer answer =
        SCENE
            .sluice()
            .admin(
                Request.get("/metrics")
                    .header("Accept", "application/openmetrics-text; version=1.0.0"));

    assertThat(answer.header("content-type")).startsWith("application/openmetrics-text");
    assertThat(answer.text()).endsWith("# EOF\n");
  }
}
