package dev.sluice.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** A collector of spans: takes OTLP over HTTP, as its specification says, and keeps it. */
public final class Collector implements AutoCloseable {
  private final HttpServer http;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Span> spans = new CopyOnWriteArrayList<>();
  private final List<Resource> resources = new CopyOnWriteArrayList<>();
  private final List<String> faults = new CopyOnWriteArrayList<>();
  private volatile int status = 200;
  private volatile @Nullable CountDownLatch stuck;

  private Collector(HttpServer http) {
    this.http = http;
  }

  /** One on a free port of loopback. */
  public static Collector start() {
    return start(0);
  }

  /** One on this port of loopback. */
  public static Collector start(int port) {
    try {
      InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
      Collector collector = new Collector(HttpServer.create(address, 0));
      collector.http.createContext("/", collector::take);
      collector.http.setExecutor(collector.threads);
      collector.http.start();
      return collector;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void take(HttpExchange exchange) throws IOException {
    try (exchange) {
      CountDownLatch latch = stuck;
      if (latch != null) {
        latch.await();
      }
      String type = exchange.getRequestHeaders().getFirst("Content-Type");
      String asked = exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + type;
      if (!asked.equals("POST /v1/traces application/x-protobuf")) {
        faults.add(asked);
      }
      ExportTraceServiceRequest request =
          ExportTraceServiceRequest.parseFrom(exchange.getRequestBody().readAllBytes());
      if (status == 200) {
        for (ResourceSpans ofResource : request.getResourceSpansList()) {
          resources.add(ofResource.getResource());
          for (ScopeSpans ofScope : ofResource.getScopeSpansList()) {
            spans.addAll(ofScope.getSpansList());
          }
        }
      }
      byte[] answer = ExportTraceServiceResponse.getDefaultInstance().toByteArray();
      exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
      exchange.sendResponseHeaders(status, answer.length == 0 ? -1 : answer.length);
      exchange.getResponseBody().write(answer);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      faults.add(e.toString());
      throw e;
    }
  }

  /** Where it listens, as the configuration names it. */
  public String url() {
    return "http://127.0.0.1:" + port();
  }

  /** The port that it listens on. */
  public int port() {
    return http.getAddress().getPort();
  }

  /** Answers with this status from now on; what it does not answer with 200 it does not keep. */
  public void answersWith(int other) {
    status = other;
  }

  /** Answers nothing until the latch says so. */
  public void stuckUntil(CountDownLatch latch) {
    stuck = latch;
  }

  /** The spans of a trace that have come so far, in the order in which they began. */
  public List<Span> spans(String traceId) {
    if (!faults.isEmpty()) {
      throw new AssertionError(faults);
    }
    return spans.stream()
        .filter(span -> hex(span.getTraceId().toByteArray()).equals(traceId))
        .sorted((a, b) -> Long.compare(a.getStartTimeUnixNano(), b.getStartTimeUnixNano()))
        .toList();
  }

  /** Waits for so many spans of a trace. */
  public List<Span> await(String traceId, int count) {
    Eventually.that(
        count + " spans of trace " + traceId + ", but: " + spans,
        () -> spans(traceId).size() >= count);
    return spans(traceId);
  }

  /** How many spans have come. */
  public int count() {
    return spans.size();
  }

  /** What the sender says of itself. */
  public Map<String, Object> resource() {
    return values(resources.get(0).getAttributesList());
  }

  /** The attributes of a span. */
  public static Map<String, Object> attributes(Span span) {
    return values(span.getAttributesList());
  }

  private static Map<String, Object> values(List<KeyValue> attributes) {
    Map<String, Object> values = new TreeMap<>();
    for (KeyValue attribute : attributes) {
      values.put(
          attribute.getKey(),
          switch (attribute.getValue().getValueCase()) {
            case STRING_VALUE -> attribute.getValue().getStringValue();
            case INT_VALUE -> attribute.getValue().getIntValue();
            case BOOL_VALUE -> attribute.getValue().getBoolValue();
            default -> throw new AssertionError(attribute);
          });
    }
    return values;
  }

  /** An id as it is written. */
  public static String hex(byte[] id) {
    return HexFormat.of().formatHex(id);
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
  }
}
