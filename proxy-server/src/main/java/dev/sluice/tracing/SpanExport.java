package dev.sluice.tracing;

import dev.sluice.exchange.ExchangeListener;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.telemetry.Meters;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Level;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the spans of sampled exchanges to a collector, OTLP over HTTP, from a thread of its own.
 * Event loops put the summary into a bounded queue and never wait.
 *
 * <table>
 *   <caption>Bounds</caption>
 *   <tr><td>queue</td><td>4096 exchanges; past it their spans are dropped and counted</td></tr>
 *   <tr><td>batch</td><td>the spans of 256 exchanges</td></tr>
 *   <tr><td>delay</td><td>about a second</td></tr>
 *   <tr><td>one export</td><td>2 s to connect, 5 s in all; what fails is dropped, and not tried
 *       again</td></tr>
 *   <tr><td>close</td><td>waits at most 3 s for what is queued</td></tr>
 * </table>
 */
public final class SpanExport implements ExchangeListener, AutoCloseable {
  /*
   * The SDK's own batching counts what it drops only into the SDK's own meters, and wants a span to
   * exist on the thread that queues it. So the queue is ours, as the access log's is: summaries in,
   * and everything that costs something on the thread behind it.
   */
  private static final Logger LOG = LoggerFactory.getLogger(SpanExport.class);
  private static final int CAPACITY = 4096;
  private static final int BATCH = 256;
  private static final long ROUND_MILLIS = 1_000;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration EXPORT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

  /** Held, or the level is forgotten: the exporter logs each failure, and this says it once. */
  private static final java.util.logging.Logger EXPORTERS_OWN =
      java.util.logging.Logger.getLogger("io.opentelemetry");

  private final SpanExporter exporter;
  private final Log log;
  private final String collector;
  private final int capacity;
  private final Spans spans;

  private final ConcurrentLinkedQueue<ExchangeSummary> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger queued = new AtomicInteger();
  private final LongAdder exported = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final Thread thread = new Thread(this::run, "span-export");
  private final Semaphore wake = new Semaphore(0);
  private volatile boolean closing;

  /** Export thread only: whether the collector took the last batch. */
  private boolean taking = true;

  /** What is told of the collector. */
  interface Log {
    /** It takes no spans any more, or never did. */
    void lost(String collector, String cause);

    /** It takes spans again. */
    void found(String collector);
  }

  SpanExport(SpanExporter exporter, String collector, String version, int capacity, Log log) {
    this.exporter = exporter;
    this.collector = collector;
    this.capacity = capacity;
    this.log = log;
    this.spans = new Spans(version);
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * To a collector.
   *
   * @param collector the URL below which OTLP is served
   * @param version Sluice's own
   */
  public static SpanExport to(String collector, String version) {
    EXPORTERS_OWN.setLevel(Level.OFF);
    SpanExporter exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(collector + "/v1/traces")
            .setConnectTimeout(CONNECT_TIMEOUT)
            .setTimeout(EXPORT_TIMEOUT)
            .setRetryPolicy(null)
            .build();
    return new SpanExport(exporter, collector, version, CAPACITY, new ToLog());
  }

  /** Registers the counters of spans. */
  public void bindTo(MeterRegistry registry) {
    Meters.SPANS.counter(registry, exported::sum, "exported");
    Meters.SPANS.counter(registry, dropped::sum, "dropped");
  }

  /** Queues the exchange where its trace is sampled. Any thread; never waits. */
  @Override
  public void ended(ExchangeSummary summary) {
    if (!summary.trace().isSampled()) {
      return;
    }
    int now = queued.incrementAndGet();
    if (closing || now > capacity) {
      queued.decrementAndGet();
      dropped.add(spansOf(summary));
      return;
    }
    queue.add(summary);
    if (now == BATCH) {
      wake.release();
    }
  }

  private static int spansOf(ExchangeSummary summary) {
    return 1 + summary.traced().size();
  }

  private void run() {
    try {
      while (!closing) {
        export();
        if (wake.tryAcquire(ROUND_MILLIS, TimeUnit.MILLISECONDS)) {
          wake.drainPermits();
        }
      }
      export();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed, and its time is up
    } catch (RuntimeException | Error e) {
      LOG.error("fault of Sluice: spans are exported no longer", e);
      closing = true;
    }
  }

  private void export() throws InterruptedException {
    List<SpanData> batch = new ArrayList<>();
    while (!queue.isEmpty()) {
      ExchangeSummary next;
      for (int i = 0; i < BATCH && (next = queue.poll()) != null; i++) {
        queued.decrementAndGet();
        batch.addAll(spans.of(next));
      }
      export(batch);
      batch.clear();
    }
  }

  private void export(List<SpanData> batch) throws InterruptedException {
    CompletableResultCode result =
        exporter.export(batch).join(EXPORT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    (result.isSuccess() ? exported : dropped).add(batch.size());
    if (result.isSuccess() != taking) {
      taking = result.isSuccess();
      if (taking) {
        log.found(collector);
      } else {
        log.lost(collector, String.valueOf(result.getFailureThrowable()));
      }
    }
    if (Thread.interrupted()) {
      throw new InterruptedException(); // join() leaves the flag and returns
    }
  }

  /** Sends what is queued, for as long as that may take; what is left then is dropped. */
  @Override
  public void close() {
    closing = true;
    wake.release();
    try {
      thread.join(CLOSE_TIMEOUT.toMillis());
      if (thread.isAlive()) {
        thread.interrupt();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    exporter.shutdown();
    ExchangeSummary left;
    while ((left = queue.poll()) != null) {
      dropped.add(spansOf(left));
    }
  }

  private static final class ToLog implements Log {
    @Override
    public void lost(String collector, String cause) {
      LOG.warn("tracing: {} takes no spans, they are dropped until it does: {}", collector, cause);
    }

    @Override
    public void found(String collector) {
      LOG.info("tracing: {} takes spans again", collector);
    }
  }
}
