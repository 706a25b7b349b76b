package dev.sluice.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import dev.sluice.testing.Collector;
import dev.sluice.testing.Eventually;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SpanExportTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final List<String> said = new CopyOnWriteArrayList<>();
  private final SpanExport.Log log =
      new SpanExport.Log() {
        @Override
        public void lost(String collector, String cause) {
          said.add("lost " + collector + ": " + cause);
        }

        @Override
        public void found(String collector) {
          said.add("found " + collector);
        }
      };

  private double count(String result) {
    return registry.get("sluice.spans.total").tag("result", result).functionCounter().count();
  }

  private static ExchangeSummary exchange() {
    return Summaries.sampled(Summaries.attempt(3, 200, null));
  }

  /** An exporter that answers when, and as, the test says. */
  private static final class Held implements SpanExporter {
    final Semaphore mayAnswer = new Semaphore(0);
    final AtomicBoolean takes = new AtomicBoolean(true);
    final List<Integer> batches = new CopyOnWriteArrayList<>();

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      batches.add(spans.size());
      mayAnswer.acquireUninterruptibly();
      return takes.get()
          ? CompletableResultCode.ofSuccess()
          : CompletableResultCode.ofExceptionalFailure(new IllegalStateException("refused"));
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }

  private SpanExport export(SpanExporter exporter, int capacity) {
    SpanExport export = new SpanExport(exporter, "http://c", "1.2.3", capacity, log);
    export.bindTo(registry);
    return export;
  }

  @Test
  void aCollectorGetsTheSpansOfSampledExchangesAlone() {
    try (Collector collector = Collector.start();
        SpanExport export = SpanExport.to(collector.url(), "1.2.3")) {
      export.bindTo(registry);
      ExchangeSummary sampled = exchange();
      TraceContext unsampled = TraceContext.begin(0);
      export.ended(
          Summaries.of(unsampled, "messages", "small", 200, null, sampled.end(), sampled.traced()));
      export.ended(sampled);
      collector.await(sampled.trace().traceId(), 2);
      Eventually.that("they are counted", () -> count("exported") == 2);

      assertThat(collector.spans(unsampled.traceId())).isEmpty();
      assertThat(collector.resource())
          .containsEntry("service.name", "sluice")
          .containsEntry("service.version", "1.2.3");
      assertThat(count("dropped")).isZero();
    }
  }

  @Test
  void whatIsQueuedIsSentBeforeTheEnd() {
    try (Collector collector = Collector.start()) {
      SpanExport export = SpanExport.to(collector.url(), "1.2.3");
      List<ExchangeSummary> exchanges = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        exchanges.add(exchange());
      }
      exchanges.forEach(export::ended);
      export.close();

      assertThat(collector.count()).isEqualTo(2_000);
    }
  }

  @Test
  void whatIsTooMuchIsDroppedAndCounted() {
    Held exporter = new Held();
    try (SpanExport export = export(exporter, 10)) {
      export.ended(exchange());
      Eventually.that("the first is being sent", () -> exporter.batches.size() == 1);
      for (int i = 0; i < 15; i++) {
        export.ended(exchange());
      }
      assertThat(count("dropped")).isEqualTo(2 * 5);
      exporter.mayAnswer.release(100);
      Eventually.that("the others are sent", () -> count("exported") == 2 * 11);
      export.ended(exchange());
      Eventually.that("there is room again", () -> count("exported") == 2 * 12);
      assertThat(count("dropped")).isEqualTo(2 * 5);
    }
  }

  @Test
  void aCollectorThatIsLostIsSaidOnceAndOnceThatItIsBack() {
    Held exporter = new Held();
    exporter.mayAnswer.release(100);
    exporter.takes.set(false);
    try (SpanExport export = export(exporter, 100)) {
      for (int i = 1; i <= 3; i++) {
        export.ended(exchange());
        int lost = 2 * i;
        Eventually.that("it is dropped", () -> count("dropped") == lost);
      }
      exporter.takes.set(true);
      for (int i = 1; i <= 3; i++) {
        export.ended(exchange());
        int sent = 2 * i;
        Eventually.that("it is sent", () -> count("exported") == sent);
      }
      assertThat(said)
          .containsExactly(
              "lost http://c: java.lang.IllegalStateException: refused", "found http://c");
    }
  }

  @Test
  void aCollectorThatAnswersWithAFaultIsLost() {
    try (Collector collector = Collector.start();
        SpanExport export = SpanExport.to(collector.url(), "1.2.3")) {
      export.bindTo(registry);
      collector.answersWith(503);
      export.ended(exchange());
      Eventually.that("it is dropped", () -> count("dropped") == 2);
      collector.answersWith(200);
      export.ended(exchange());
      Eventually.that("it is sent", () -> count("exported") == 2);
    }
  }

  @Test
  void aCollectorThatIsStuckDoesNotHoldUpTheEnd() {
    CountDownLatch forever = new CountDownLatch(1);
    try (Collector collector = Collector.start()) {
      collector.stuckUntil(forever);
      SpanExport export = SpanExport.to(collector.url(), "1.2.3");
      export.bindTo(registry);
      export.ended(exchange());
      long begunNanos = System.nanoTime();
      export.close();
      Duration took = Duration.ofNanos(System.nanoTime() - begunNanos);
      export.ended(exchange());

      // Three seconds are the bound; ten times that is no slow machine any more.
      assertThat(took).isLessThan(Duration.ofSeconds(30));
      Eventually.that("both are dropped", () -> count("dropped") == 4);
      forever.countDown();
    }
  }
}
