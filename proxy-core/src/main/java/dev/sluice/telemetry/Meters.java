package dev.sluice.telemetry;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleSupplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Every meter of Sluice: its name as it stands in the Prometheus exposition, type, unit, labels,
 * and what it says. The only place where meters are registered, so that none can differ from its
 * line here.
 *
 * <p>What OpenTelemetry's conventions for generative AI have a name for bears that name, as
 * Prometheus writes it; everything else begins with {@code sluice_}.
 *
 * <p>Label values are bounded by the configuration: a model, plan or operation that is not
 * configured is {@code unknown}. Nothing that a caller sends becomes a label value.
 */
public enum Meters {
  STREAM_SLOTS_IN_USE(
      "sluice_stream_slots_in_use",
      Type.GAUGE,
      "slots",
      List.of("plan"),
      "Stream slots of the plan in use now."),
  STREAM_SLOTS_LIMIT(
      "sluice_stream_slots_limit",
      Type.GAUGE,
      "slots",
      List.of("plan"),
      "Streams of the plan that may run at once."),
  STREAM_SLOTS_REJECTED(
      "sluice_stream_slots_rejected_total",
      Type.COUNTER,
      "requests",
      List.of("plan"),
      "Requests answered 429 because all slots of the plan or of the key were in use."),
  REQUESTS(
      "sluice_requests_total",
      Type.COUNTER,
      "requests",
      List.of("operation", "model", "plan", "status", "reason"),
      "Exchanges that ended; status 0 where the client left before an answer, reason none where"
          + " nothing failed."),
  REQUEST_DURATION(
      "sluice_request_duration_seconds",
      Type.HISTOGRAM,
      "seconds",
      List.of("operation", "model"),
      "Time from the first byte of a request to the end of its exchange."),
  TIME_TO_FIRST_BYTE(
      "sluice_time_to_first_byte_seconds",
      Type.HISTOGRAM,
      "seconds",
      List.of("operation", "model"),
      "Time from the first byte of a request to the first byte of its answer."),
  STREAMS_ENDED(
      "sluice_streams_ended_total",
      Type.COUNTER,
      "streams",
      List.of("model", "cause"),
      "Streams that ended, by cause: done, client, upstream, timeout, shutdown or revoked."),
  BYTES(
      "sluice_bytes_total",
      Type.COUNTER,
      "bytes",
      List.of("model", "direction"),
      "Bytes of request bodies read (in) and of answers written (out), counted when the exchange"
          + " ends."),
  EVENTS(
      "sluice_events_total",
      Type.COUNTER,
      "events",
      List.of("model"),
      "Server-sent events relayed, counted when the exchange ends."),
  TOKEN_USAGE(
      "gen_ai_client_token_usage",
      Type.HISTOGRAM,
      "tokens",
      List.of("gen_ai_request_model", "plan", "gen_ai_token_type"),
      "Tokens of an answer as its upstream told them, by type: input or output; answers of which it"
          + " told none are not in it. Its sum is the number of tokens."),
  KEY_CACHE(
      "sluice_key_cache_total",
      Type.COUNTER,
      "look-ups",
      List.of("result"),
      "Look-ups of keys, by result: hit, hit_unknown, miss, miss_unknown or failed."),
  KEYS_RELOAD(
      "sluice_keys_reload_total",
      Type.COUNTER,
      "reloads",
      List.of("result"),
      "Changed keys files read again: ok, or refused, in which case the old keys stay."),
  STATUS_KEY_CHECKS(
      "sluice_status_key_checks_total",
      Type.COUNTER,
      "checks",
      List.of("result"),
      "Keys checked on the status page, by result: valid, invalid, slowed or failed; there while it"
          + " is served."),
  RETRIES(
      "sluice_retries_total",
      Type.COUNTER,
      "requests",
      List.of("model", "reason"),
      "Requests that were tried again on another endpoint, by the reason of the failure before."),
  RETRIES_DENIED(
      "sluice_retries_denied_total",
      Type.COUNTER,
      "requests",
      List.of("model"),
      "Requests that were not tried again because the model's retry budget was used up."),
  UPSTREAM_CONNECTIONS(
      "sluice_upstream_connections",
      Type.GAUGE,
      "connections",
      List.of("model", "state"),
      "Connections to the model's endpoints, by state: connecting, active or idle."),
  ENDPOINT_EXCHANGES(
      "sluice_endpoint_exchanges",
      Type.GAUGE,
      "attempts",
      List.of("model", "endpoint"),
      "Attempts under way at the endpoint."),
  ENDPOINT_UP(
      "sluice_endpoint_up",
      Type.GAUGE,
      "",
      List.of("model", "endpoint"),
      "1 while the endpoint is used, 0 while it is left out."),
  ENDPOINT_EJECTIONS(
      "sluice_endpoint_ejections_total",
      Type.COUNTER,
      "ejections",
      List.of("model", "endpoint", "cause"),
      "Times that the endpoint was left out, by cause: consecutive_failures, failure_rate, probe,"
          + " retry_after or operator."),
  PROBES(
      "sluice_probes_total",
      Type.COUNTER,
      "probes",
      List.of("model", "endpoint", "result"),
      "Probes of the endpoint that ended, by result: ok or failed."),
  DOWNSTREAM_CONNECTIONS(
      "sluice_downstream_connections",
      Type.GAUGE,
      "connections",
      List.of(),
      "Downstream connections open now."),
  CONFIG_RELOAD(
      "sluice_config_reload_total",
      Type.COUNTER,
      "reloads",
      List.of("result"),
      "Versions of the configuration read while running: ok, or refused, in which case the one"
          + " before stays."),
  CONFIG_LOADED_TIMESTAMP(
      "sluice_config_loaded_timestamp_seconds",
      Type.GAUGE,
      "seconds",
      List.of(),
      "When the configuration that is in effect was taken, in seconds since the epoch."),
  MEMORY_BUDGET_HELD(
      "sluice_memory_budget_held_bytes",
      Type.GAUGE,
      "bytes",
      List.of(),
      "Bytes of request bodies, answers and relay buffers held in memory now."),
  MEMORY_BUDGET_LIMIT(
      "sluice_memory_budget_limit_bytes",
      Type.GAUGE,
      "bytes",
      List.of(),
      "Bytes that may be held before new requests are answered 503."),
  ACCESS_LOG_DROPPED(
      "sluice_access_log_dropped_total",
      Type.COUNTER,
      "lines",
      List.of(),
      "Access-log lines dropped because the queue was full or the process ended first."),
  ACCESS_LOG_WRITE_ERRORS(
      "sluice_access_log_write_errors_total",
      Type.COUNTER,
      "errors",
      List.of(),
      "Failed tries to open or write the access log; lines wait for the next try."),
  SPANS(
      "sluice_spans_total",
      Type.COUNTER,
      "spans",
      List.of("result"),
      "Spans of sampled traces: exported, or dropped because the queue was full or the collector did"
          + " not take them. Not there without tracing."),
  EXCHANGES_OPEN(
      "sluice_exchanges_open",
      Type.GAUGE,
      "exchanges",
      List.of(),
      "Exchanges under way now; those that hold a slot are in sluice_stream_slots_in_use."),
  MAINTENANCE_REMAINING(
      "sluice_maintenance_remaining_seconds",
      Type.GAUGE,
      "seconds",
      List.of("model"),
      "Until the maintenance of the model ends, 0 where there is none; * is the maintenance of all"
          + " models. A model is there from its first maintenance on."),
  DRAINING(
      "sluice_draining",
      Type.GAUGE,
      "",
      List.of(),
      "1 from the beginning of a drain or of the shutdown on, else 0."),
  READY(
      "sluice_ready",
      Type.GAUGE,
      "",
      List.of(),
      "1 while new requests are taken, 0 while starting, in maintenance of all models, or"
          + " draining."),
  BUILD_INFO(
      "sluice_build_info",
      Type.GAUGE,
      "",
      List.of("version", "java"),
      "Always 1; the labels name the running version of Sluice and of Java.");

  /** What kind of meter it is, in Prometheus' words. */
  public enum Type {
    COUNTER,
    GAUGE,
    HISTOGRAM
  }

  /*
   * Upper bounds of the histograms' buckets. A refused request takes well under 5 ms, a long answer
   * minutes; 16 buckets of about 1 : 2 between them keep quantiles useful and the number of series
   * bounded.
   */
  private static final Duration[] BUCKETS =
      Stream.of(
              5L, 10L, 25L, 50L, 100L, 250L, 500L, 1_000L, 2_500L, 5_000L, 10_000L, 30_000L,
              60_000L, 120_000L, 300_000L, 600_000L)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);

  /** The conventions' bounds: each four times the one before. */
  private static final double[] TOKEN_BUCKETS =
      LongStream.iterate(1, bound -> bound <= 67_108_864, bound -> 4 * bound)
          .asDoubleStream()
          .toArray();

  private final String prometheusName;
  private final Type type;
  private final String unit;

  @SuppressWarnings("ImmutableEnumChecker") // from List.of
  private final List<String> labels;

  private final String description;

  Meters(String prometheusName, Type type, String unit, List<String> labels, String description) {
    this.prometheusName = prometheusName;
    this.type = type;
    this.unit = unit;
    this.labels = labels;
    this.description = description;
  }

  /** The name in the Prometheus exposition, in full. */
  public String prometheusName() {
    return prometheusName;
  }

  /** What kind of meter it is. */
  public Type type() {
    return type;
  }

  /** What is counted or measured; empty where it has no unit. */
  public String unit() {
    return unit;
  }

  /** The names of its labels, in the order in which values are given. */
  public List<String> labels() {
    return labels;
  }

  /** What it says, in one sentence. */
  public String description() {
    return description;
  }

  /**
   * The counter with these label values, registered at the first call.
   *
   * @throws IllegalArgumentException when the number of values is not the number of labels
   */
  public Counter counter(MeterRegistry registry, String... labelValues) {
    expect(Type.COUNTER);
    return Counter.builder(micrometerName())
        .description(description)
        .tags(tags(labelValues))
        .register(registry);
  }

  /**
   * Registers a counter whose count is kept elsewhere.
   *
   * @param count gives a count that never falls; called by the thread that scrapes; held strongly
   * @return the counter, for {@link MeterRegistry#remove}
   * @throws IllegalArgumentException when the number of values is not the number of labels
   */
  public FunctionCounter counter(
      MeterRegistry registry, DoubleSupplier count, String... labelValues) {
    expect(Type.COUNTER);
    // A function counter holds its object weakly; the registry lives as long as its meters do.
    return FunctionCounter.builder(micrometerName(), registry, alive -> count.getAsDouble())
        .description(description)
        .tags(tags(labelValues))
        .register(registry);
  }

  /**
   * Registers a gauge.
   *
   * @param value gives the value now; called by the thread that scrapes; held strongly
   * @return the gauge, for {@link MeterRegistry#remove}
   * @throws IllegalArgumentException when the number of values is not the number of labels
   */
  public Gauge gauge(MeterRegistry registry, DoubleSupplier value, String... labelValues) {
    expect(Type.GAUGE);
    return Gauge.builder(micrometerName(), value::getAsDouble)
        .description(description)
        .tags(tags(labelValues))
        .register(registry);
  }

  /**
   * The histogram of durations with these label values, registered at the first call.
   *
   * @throws IllegalArgumentException when the number of values is not the number of labels
   */
  public Timer histogram(MeterRegistry registry, String... labelValues) {
    expect(Type.HISTOGRAM);
    return Timer.builder(micrometerName())
        .description(description)
        .tags(tags(labelValues))
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  /**
   * The histogram of numbers of tokens with these label values, registered at the first call.
   *
   * @throws IllegalArgumentException when the number of values is not the number of labels
   */
  public DistributionSummary tokens(MeterRegistry registry, String... labelValues) {
    expect(Type.HISTOGRAM);
    return DistributionSummary.builder(micrometerName())
        .description(description)
        .tags(tags(labelValues))
        .serviceLevelObjectives(TOKEN_BUCKETS)
        .register(registry);
  }

  /** The table of all meters in Markdown, a line each, as it stands in the README. */
  public static String markdown() {
    StringBuilder table = new StringBuilder(4096);
    table.append("| meter | type | unit | labels | meaning |\n|---|---|---|---|---|\n");
    for (Meters meter : values()) {
      table
          .append("| `")
          .append(meter.prometheusName)
          .append("` | ")
          .append(meter.type.name().toLowerCase(Locale.ROOT))
          .append(" | ")
          .append(meter.unit)
          .append(" | ")
          .append(meter.labels.isEmpty() ? "" : "`" + String.join("`, `", meter.labels) + "`")
          .append(" | ")
          .append(meter.description)
          .append(" |\n");
    }
    return table.toString();
  }

  /*
   * With dots, which the registry turns into the Prometheus name; written with underscores, it would
   * take "_info" for a reserved suffix and drop it.
   */
  private String micrometerName() {
    return prometheusName.replace('_', '.');
  }

  private void expect(Type expected) {
    if (type != expected) {
      throw new IllegalStateException(
          prometheusName + ": " + expected + " (expected: " + type + ")");
    }
  }

  private Tags tags(String... labelValues) {
    if (labelValues.length != labels.size()) {
      throw new IllegalArgumentException(
          prometheusName + ": " + labelValues.length + " label values (expected: " + labels + ")");
    }
    List<Tag> tags = new ArrayList<>(labelValues.length);
    for (int i = 0; i < labelValues.length; i++) {
      tags.add(Tag.of(labels.get(i), labelValues[i]));
    }
    return Tags.of(tags);
  }
}
