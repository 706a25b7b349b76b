package dev.sluice.tracing;

import dev.sluice.exchange.AttemptSummary;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Operation;
import dev.sluice.message.Usage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Turns what is known of an exchange into its spans: one of the exchange, as a server's, and below
 * it one of each attempt, as a client's, with the names of OpenTelemetry's conventions for
 * generative AI. One thread at a time.
 */
final class Spans {
  /*
   * The SDK makes spans when they begin, under ids of its own; these have ended already, and their
   * ids are known upstream. So it is given the ids, and the times.
   *
   * Tokens stand on the attempt that told them, and not on the exchange as well: who adds up the
   * spans of a trace would count them twice.
   */
  private final List<SpanData> ended = new ArrayList<>();
  private final Tracer tracer;
  private String traceId = "";
  private String spanId = "";

  /** Spans of a service of this version. */
  Spans(String version) {
    Resource service =
        Resource.builder().put("service.name", "sluice").put("service.version", version).build();
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setResource(Resource.getDefault().merge(service))
            .setSampler(Sampler.alwaysOn())
            .setIdGenerator(new GivenIds())
            .addSpanProcessor(new Gathering())
            .build();
    this.tracer = provider.tracerBuilder("dev.sluice").setInstrumentationVersion(version).build();
  }

  /** The spans of an exchange whose trace is sampled, those of its attempts first. */
  List<SpanData> of(ExchangeSummary summary) {
    TraceContext trace = summary.trace();
    traceId = trace.traceId();
    long begunNanos = TimeUnit.MILLISECONDS.toNanos(summary.startedMillis());
    Span exchange = exchange(summary, begunNanos);
    Context below = Context.root().with(exchange);
    List<AttemptSummary> attempts = summary.traced();
    for (int i = 0; i < attempts.size(); i++) {
      attempt(summary, attempts.get(i), i, i == attempts.size() - 1, below, begunNanos);
    }
    exchange.end(begunNanos + summary.durationNanos(), TimeUnit.NANOSECONDS);
    List<SpanData> spans = List.copyOf(ended);
    ended.clear();
    return spans;
  }

  private Span exchange(ExchangeSummary summary, long begunNanos) {
    spanId = hex(TraceContext.newSpanId());
    SpanBuilder builder =
        tracer
            .spanBuilder(summary.operation())
            .setParent(caller(summary.trace()))
            .setSpanKind(SpanKind.SERVER)
            .setStartTimestamp(begunNanos, TimeUnit.NANOSECONDS)
            .setAttribute("sluice.request_id", summary.requestId())
            .setAttribute("sluice.operation", summary.operation())
            .setAttribute("sluice.stream", summary.stream())
            .setAttribute("sluice.events", summary.events())
            .setAttribute("sluice.end", summary.end().label());
    text(builder, "gen_ai.request.model", summary.model());
    text(builder, "sluice.plan", summary.plan());
    text(builder, "sluice.key", summary.key());
    status(builder, summary.status());
    Span span = builder.startSpan();
    if (summary.firstByteNanos() >= 0) {
      span.addEvent("first_byte", begunNanos + summary.firstByteNanos(), TimeUnit.NANOSECONDS);
    }
    if (summary.reason() != null) {
      span.setAttribute("error.type", summary.reason().label());
      // What the caller did wrong is no fault of the service.
      if (summary.status() >= 500 || summary.end() != End.DONE) {
        span.setStatus(StatusCode.ERROR);
      }
    }
    return span;
  }

  private static Context caller(TraceContext trace) {
    if (trace.parentId() == 0) {
      return Context.root();
    }
    SpanContext parent =
        SpanContext.createFromRemoteParent(
            trace.traceId(),
            hex(trace.parentId()),
            TraceFlags.getSampled(),
            TraceState.getDefault());
    return Context.root().with(Span.wrap(parent));
  }

  private void attempt(
      ExchangeSummary summary,
      AttemptSummary attempt,
      int resent,
      boolean last,
      Context exchange,
      long exchangeBegunNanos) {
    spanId = hex(attempt.spanId());
    long begunNanos = exchangeBegunNanos + attempt.startedNanos();
    String operation = operation(summary);
    SpanBuilder builder =
        tracer
            .spanBuilder(operation + " " + summary.model())
            .setParent(exchange)
            .setSpanKind(SpanKind.CLIENT)
            .setStartTimestamp(begunNanos, TimeUnit.NANOSECONDS)
            .setAttribute("gen_ai.operation.name", operation)
            .setAttribute("server.address", attempt.endpoint().host())
            .setAttribute("server.port", (long) attempt.endpoint().port());
    text(builder, "gen_ai.provider.name", provider(summary));
    text(builder, "gen_ai.request.model", summary.model());
    status(builder, attempt.status());
    if (resent > 0) {
      builder.setAttribute("http.request.resend_count", (long) resent);
    }
    if (last) {
      tokens(builder, "gen_ai.usage.input_tokens", summary.usage().inputTokens());
      tokens(builder, "gen_ai.usage.output_tokens", summary.usage().outputTokens());
    }
    Span span = builder.startSpan();
    if (attempt.reason() != null) {
      span.setAttribute("error.type", attempt.reason().label());
      span.setStatus(StatusCode.ERROR);
    }
    span.end(begunNanos + attempt.durationNanos(), TimeUnit.NANOSECONDS);
  }

  /** The conventions' name of what both built-in operations do; of others their own. */
  private static String operation(ExchangeSummary summary) {
    return provider(summary) == null ? summary.operation() : "chat";
  }

  /** Whose dialect is spoken, as the conventions want it of what is compatible. */
  private static @Nullable String provider(ExchangeSummary summary) {
    if (summary.operation().equals(Operation.CHAT_COMPLETIONS.name())) {
      return "openai";
    }
    return summary.operation().equals(Operation.MESSAGES.name()) ? "anthropic" : null;
  }

  private static void text(SpanBuilder span, String name, @Nullable String value) {
    if (value != null) {
      span.setAttribute(name, value);
    }
  }

  private static void status(SpanBuilder span, int status) {
    if (status > 0) {
      span.setAttribute("http.response.status_code", (long) status);
    }
  }

  private static void tokens(SpanBuilder span, String name, long tokens) {
    if (tokens != Usage.UNKNOWN) {
      span.setAttribute(name, tokens);
    }
  }

  private static String hex(long id) {
    return String.format(Locale.ROOT, "%016x", id);
  }

  private final class GivenIds implements IdGenerator {
    @Override
    public String generateSpanId() {
      return spanId;
    }

    @Override
    public String generateTraceId() {
      return traceId;
    }
  }

  private final class Gathering implements SpanProcessor {
    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      ended.add(span.toSpanData());
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}
