package dev.sluice.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpansTest {
  private static final long BEGUN_NANOS = Summaries.STARTED_MILLIS * 1_000_000;

  private final Spans spans = new Spans("1.2.3");

  @Test
  void anExchangeIsASpanBelowItsCallers() {
    ExchangeSummary summary =
        Summaries.of(
            Summaries.CALLERS,
            "chat_completions",
            "small",
            200,
            null,
            End.DONE,
            List.of(Summaries.attempt(3, 200, null)));
    SpanData span = exchange(spans.of(summary));

    assertThat(span.getTraceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
    assertThat(span.getParentSpanId()).isEqualTo("b7ad6b7169203331");
    assertThat(span.getParentSpanContext().isRemote()).isTrue();
    assertThat(span.getName()).isEqualTo("chat_completions");
    assertThat(span.getKind()).isEqualTo(SpanKind.SERVER);
    assertThat(span.getStartEpochNanos()).isEqualTo(BEGUN_NANOS);
    assertThat(span.getEndEpochNanos()).isEqualTo(BEGUN_NANOS + 9_000);
    assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(span.getEvents())
        .extracting(EventData::getName, EventData::getEpochNanos)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("first_byte", BEGUN_NANOS + 2_000));
    assertThat(attributes(span))
        .isEqualTo(
            Map.of(
                "sluice.request_id", "req_1",
                "sluice.operation", "chat_completions",
                "sluice.plan", "pro",
                "sluice.key", "acme-prod",
                "sluice.stream", true,
                "sluice.events", 7L,
                "sluice.end", "done",
                "gen_ai.request.model", "small",
                "http.response.status_code", 200L));
    assertThat(span.getResource().getAttributes().asMap().toString())
        .contains("service.name=sluice")
        .contains("service.version=1.2.3");
  }

  @Test
  void anAttemptIsASpanBelowItsExchange() {
    List<SpanData> all =
        spans.of(
            Summaries.sampled(
                Summaries.attempt(3, 503, Reason.UPSTREAM_UNAVAILABLE),
                Summaries.attempt(5, 200, null)));
    SpanData exchange = exchange(all);
    SpanData failed = all.get(0);
    SpanData answered = all.get(1);

    assertThat(all).hasSize(3);
    assertThat(exchange.getParentSpanContext().isValid()).isFalse();
    for (SpanData attempt : List.of(failed, answered)) {
      assertThat(attempt.getTraceId()).isEqualTo(exchange.getTraceId());
      assertThat(attempt.getParentSpanId()).isEqualTo(exchange.getSpanId());
      assertThat(attempt.getKind()).isEqualTo(SpanKind.CLIENT);
      assertThat(attempt.getName()).isEqualTo("chat small");
    }
    assertThat(failed.getSpanId()).isEqualTo("0000000000000003");
    assertThat(failed.getStartEpochNanos()).isEqualTo(BEGUN_NANOS + 300);
    assertThat(failed.getEndEpochNanos()).isEqualTo(BEGUN_NANOS + 350);
    assertThat(failed.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(attributes(failed))
        .isEqualTo(
            Map.of(
                "gen_ai.operation.name", "chat",
                "gen_ai.provider.name", "openai",
                "gen_ai.request.model", "small",
                "server.address", "10.0.0.7",
                "server.port", 8000L,
                "http.response.status_code", 503L,
                "error.type", "upstream_unavailable"));
    assertThat(answered.getSpanId()).isEqualTo("0000000000000005");
    assertThat(answered.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(attributes(answered))
        .containsEntry("http.request.resend_count", 1L)
        .containsEntry("gen_ai.usage.input_tokens", 30L)
        .containsEntry("gen_ai.usage.output_tokens", 400L)
        .doesNotContainKey("error.type");
  }

  @ParameterizedTest
  @CsvSource({
    "chat_completions, chat, openai",
    "messages, chat, anthropic",
    "embeddings, embeddings, ",
  })
  void anOperationHasItsNameOfTheConventions(String operation, String name, String provider) {
    SpanData attempt =
        spans
            .of(
                Summaries.of(
                    TraceContext.begin(1),
                    operation,
                    "small",
                    200,
                    null,
                    End.DONE,
                    List.of(Summaries.attempt(3, 200, null))))
            .get(0);

    assertThat(attempt.getName()).isEqualTo(name + " small");
    assertThat(attributes(attempt)).containsEntry("gen_ai.operation.name", name);
    assertThat(attributes(attempt).get("gen_ai.provider.name")).isEqualTo(provider);
  }

  @ParameterizedTest
  @CsvSource({
    "401, KEY_MISSING, DONE, UNSET",
    "429, SLOTS_OF_PLAN, DONE, UNSET",
    "502, UPSTREAM_STATUS, DONE, ERROR",
    "503, DRAINING, DONE, ERROR",
    "200, UPSTREAM_CLOSED, UPSTREAM, ERROR",
  })
  void aFailureOfTheServiceIsAnErrorAndTheCallersIsNot(
      int status, Reason reason, End end, StatusCode expected) {
    SpanData span =
        exchange(
            spans.of(
                Summaries.of(
                    TraceContext.begin(1), "unknown", null, status, reason, end, List.of())));

    assertThat(span.getStatus().getStatusCode()).isEqualTo(expected);
    assertThat(attributes(span)).containsEntry("error.type", reason.label());
  }

  @Test
  void aCallerWhoLeftBeforeAnAnswerIsNoErrorAndHasNoStatus() {
    SpanData span =
        exchange(
            spans.of(
                Summaries.of(
                    TraceContext.begin(1), "messages", "small", 0, null, End.CLIENT, List.of())));

    assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(span.getEvents()).isEmpty();
    assertThat(attributes(span))
        .doesNotContainKeys("http.response.status_code", "error.type")
        .containsEntry("sluice.end", "client");
  }

  @Test
  void noCredentialIsTold() {
    assertThat(spans.of(Summaries.sampled(Summaries.attempt(3, 200, null))).toString())
        .doesNotContain("secret");
  }

  private static SpanData exchange(List<SpanData> spans) {
    return spans.get(spans.size() - 1);
  }

  private static Map<String, Object> attributes(SpanData span) {
    Map<String, Object> attributes = new TreeMap<>();
    span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value));
    return attributes;
  }
}
