package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static dev.sluice.testing.Collector.attributes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Collector;
import dev.sluice.testing.DeadPorts;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import dev.sluice.testing.ScriptedUpstream;
import io.opentelemetry.proto.trace.v1.Span;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Spans, from the process to a collector. */
class TracingIT {
  private static final Collector COLLECTOR = Collector.start();
  private static final ScriptedUpstream OTHER = ScriptedUpstream.start();
  private static final SplittableRandom RANDOM = new SplittableRandom();

  @RegisterExtension
  static final Scene SCENE =
      new Scene()
          .setting(to(COLLECTOR.url()))
          .model(
              "two: {upstreams: [{url: \"http://127.0.0.1:"
                  + OTHER.port()
                  + "/a\"}, {url: \"http://127.0.0.1:"
                  + OTHER.port()
                  + "/b\"}]}");

  @AfterAll
  static void close() {
    COLLECTOR.close();
    OTHER.close();
  }

  private static String to(String collector) {
    return "tracing: {otlp: \"" + collector + "\", sample: 1}";
  }

  private static String newTraceId() {
    return HexFormat.of().toHexDigits(RANDOM.nextLong())
        + HexFormat.of().toHexDigits(RANDOM.nextLong() | 1);
  }

  private static String parent(String trace, String flags) {
    return "00-" + trace + "-b7ad6b7169203331-" + flags;
  }

  private static Span exchange(List<Span> spans) {
    return spans.stream()
        .filter(span -> span.getKind() == Span.SpanKind.SPAN_KIND_SERVER)
        .findFirst()
        .orElseThrow();
  }

  private static List<Span> attempts(List<Span> spans) {
    return spans.stream().filter(span -> span.getKind() == Span.SpanKind.SPAN_KIND_CLIENT).toList();
  }

  @Test
  void aSampledCallersExchangeAndItsAttemptAreSpansOfItsTrace() {
    SCENE.upstream.answers(
        Script.json("{\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":3},\"choices\":[]}"));
    String trace = newTraceId();
    Answer answer = SCENE.exchange(chat("small").header("traceparent", parent(trace, "01")));
    String upstreams = SCENE.upstream.take().header("traceparent");
    List<Span> spans = COLLECTOR.await(trace, 2);
    Span exchange = exchange(spans);
    Span attempt = attempts(spans).get(0);

    assertThat(spans).hasSize(2);
    assertThat(Collector.hex(exchange.getParentSpanId().toByteArray()))
        .isEqualTo("b7ad6b7169203331");
    assertThat(attempt.getParentSpanId()).isEqualTo(exchange.getSpanId());
    assertThat(upstreams)
        .isEqualTo("00-" + trace + "-" + Collector.hex(attempt.getSpanId().toByteArray()) + "-01");
    assertThat(attributes(exchange))
        .containsEntry("sluice.request_id", answer.header("x-request-id"))
        .containsEntry("http.response.status_code", 200L);
    assertThat(attributes(attempt))
        .containsEntry("gen_ai.operation.name", "chat")
        .containsEntry("gen_ai.request.model", "small")
        .containsEntry("gen_ai.usage.input_tokens", 40L)
        .containsEntry("gen_ai.usage.output_tokens", 3L)
        .containsEntry("server.address", "127.0.0.1")
        .containsEntry("server.port", (long) SCENE.upstream.port())
        .containsEntry("http.response.status_code", 200L);
    assertThat(attempt.getStartTimeUnixNano())
        .isBetween(exchange.getStartTimeUnixNano(), exchange.getEndTimeUnixNano());
    assertThat(attempt.getEndTimeUnixNano())
        .isBetween(attempt.getStartTimeUnixNano(), exchange.getEndTimeUnixNano());
  }

  @Test
  void aCallerWhoSamplesNothingHasNoSpans() {
    String quiet = newTraceId();
    SCENE.exchange(chat("small").header("traceparent", parent(quiet, "00")));
    assertThat(SCENE.upstream.take().header("traceparent")).endsWith("-00");
    String told = newTraceId();
    SCENE.exchange(chat("small").header("traceparent", parent(told, "01")));

    COLLECTOR.await(told, 2); // it ended later, and spans are sent in order
    assertThat(COLLECTOR.spans(quiet)).isEmpty();
  }

  @Test
  void aTraceThatBeginsHereIsSampled() {
    SCENE.exchange(chat("small"));
    String upstreams = SCENE.upstream.take().header("traceparent");

    assertThat(upstreams).endsWith("-01");
    List<Span> spans = COLLECTOR.await(upstreams.substring(3, 35), 2);
    assertThat(exchange(spans).getParentSpanId().isEmpty()).isTrue();
  }

  @Test
  void eachAttemptIsASpan() {
    OTHER.answers(Script.json(503, "{}"), Script.json("{}"));
    String trace = newTraceId();
    SCENE.exchange(chat("two").header("traceparent", parent(trace, "01")));
    List<Span> attempts = attempts(COLLECTOR.await(trace, 3));

    assertThat(attempts).hasSize(2);
    assertThat(attributes(attempts.get(0)))
        .containsEntry("error.type", "upstream_unavailable")
        .containsEntry("http.response.status_code", 503L);
    assertThat(attributes(attempts.get(1)))
        .containsEntry("http.request.resend_count", 1L)
        .containsEntry("http.response.status_code", 200L)
        .doesNotContainKey("error.type");
  }

  @Test
  void aStreamThatBreaksOffIsAnError() {
    SCENE.upstream.answers(
        Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenClose());
    String trace = newTraceId();
    SCENE.exchange(stream(MESSAGES, "small").header("traceparent", parent(trace, "01")));
    Span exchange = exchange(COLLECTOR.await(trace, 2));

    assertThat(exchange.getStatus().getCodeValue()).isEqualTo(2);
    assertThat(attributes(exchange))
        .containsEntry("error.type", "upstream_closed")
        .containsEntry("sluice.end", "upstream")
        .containsEntry("sluice.events", 1L)
        .containsEntry("sluice.stream", true);
  }

  @Test
  void aRefusalIsASpanWithoutAttempts() {
    String trace = newTraceId();
    Answer answer =
        SCENE.exchange(Request.post(CHAT, "{}").header("traceparent", parent(trace, "01")));
    Span exchange = exchange(COLLECTOR.await(trace, 1));

    assertThat(answer.status()).isEqualTo(401);
    assertThat(attributes(exchange)).containsEntry("error.type", "key_missing");
    assertThat(exchange.getStatus().getCodeValue()).isZero();
  }

  @Test
  void noSecretIsInASpan() {
    String trace = newTraceId();
    SCENE.exchange(chat("renamed").header("traceparent", parent(trace, "01")));

    assertThat(COLLECTOR.await(trace, 2).toString())
        .doesNotContain("sk-test")
        .doesNotContain(Scene.UPSTREAM_KEY);
  }

  @Test
  void whatIsUnderWayAtTheEndIsSentToo() {
    try (Collector collector = Collector.start();
        Scene scene = new Scene().setting(to(collector.url()))) {
      scene.start();
      String trace = newTraceId();
      scene.exchange(list().header("traceparent", parent(trace, "01")));
      scene.sluice().terminate();

      assertThat(scene.sluice().awaitExit(Scene.END)).isZero();
      assertThat(collector.spans(trace)).hasSize(1);
    }
  }

  @Test
  void aCollectorThatIsNotThereIsSaidOnceAndCostsNoAnswer() {
    try (DeadPorts dead = new DeadPorts();
        Scene scene = new Scene().setting(to("http://127.0.0.1:" + dead.refusing()))) {
      scene.start();
      for (int i = 1; i <= 3; i++) {
        assertThat(scene.exchange(list()).status()).isEqualTo(200);
        int dropped = i;
        scene
            .sluice()
            .awaitMetrics(
                "the span is dropped",
                metrics -> metrics.sum("sluice_spans_total", "result=\"dropped\"") == dropped);
      }
      assertThat(scene.sluice().stderr())
          .filteredOn(line -> line.contains("tracing") || line.contains("opentelemetry"))
          .singleElement()
          .asString()
          .contains("WARN", "http://127.0.0.1:" + dead.refusing() + " takes no spans");
      long begunNanos = System.nanoTime();
      scene.exchange(list());
      scene.sluice().terminate();
      assertThat(scene.sluice().awaitExit(Scene.END)).isZero();
      assertThat(Duration.ofNanos(System.nanoTime() - begunNanos)).isLessThan(Scene.END);
    }
  }

  @Test
  void withoutTracingNoneOfItIsLoaded() {
    try (Scene scene = new Scene()) {
      scene.start();
      scene.exchange(chat("small").header("traceparent", parent(newTraceId(), "01")));

      assertThat(scene.sluice().loadedClasses())
          .contains("dev.sluice.exchange.Exchange")
          .doesNotContain("io.opentelemetry");
      assertThat(scene.sluice().metrics().has("sluice_spans_total")).isFalse();
    }
  }
}
