package dev.sluice.telemetry;

import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeListener;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.message.Usage;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Counts and times exchanges from their summaries alone. Safe for all threads; never blocks. */
public final class ExchangeMeters implements ExchangeListener {
  /*
   * Finding a meter in the registry means building and hashing its tags for each exchange. So the
   * meters of each combination of labels are found once and kept; an exchange costs one look-up by a
   * small key. The names in a key are bounded before the look-up, so the map is bounded as well.
   */
  private final Map<Labels, Series> series = new ConcurrentHashMap<>();

  private final Map<TokenLabels, DistributionSummary> tokens = new ConcurrentHashMap<>();

  private final MeterRegistry registry;
  private volatile Names known = new Names(Set.of(), Map.of(), Map.of());

  /** The names that are told apart, and the meters of those that show from the start as 0. */
  private record Names(
      Set<String> operations, Map<String, ModelMeters> models, Map<String, Counter> rejected) {}

  /**
   * Meters for these names; every other name is counted as {@link ExchangeSummary#UNKNOWN}.
   *
   * @param operations the names of all operations, {@code GET /v1/models} included
   * @param models the ids of all configured models
   * @param plans the names of all configured plans
   */
  public ExchangeMeters(
      MeterRegistry registry,
      Collection<String> operations,
      Collection<String> models,
      Collection<String> plans) {
    this.registry = registry;
    List<String> unknown = List.of(ExchangeSummary.UNKNOWN);
    know(unknown, unknown, unknown);
    know(operations, models, plans);
  }

  /**
   * Tells these names apart, too. Those of before stay: exchanges that began with them may go on.
   * One thread at a time.
   */
  public void know(
      Collection<String> operations, Collection<String> models, Collection<String> plans) {
    Set<String> allOperations = new HashSet<>(known.operations);
    allOperations.addAll(operations);
    Map<String, ModelMeters> allModels = new HashMap<>(known.models);
    for (String model : models) {
      allModels.computeIfAbsent(model, added -> new ModelMeters(registry, added));
    }
    Map<String, Counter> allRejected = new HashMap<>(known.rejected);
    for (String plan : plans) {
      allRejected.computeIfAbsent(
          plan, added -> Meters.STREAM_SLOTS_REJECTED.counter(registry, added));
    }
    known = new Names(Set.copyOf(allOperations), Map.copyOf(allModels), Map.copyOf(allRejected));
  }

  @Override
  public void ended(ExchangeSummary summary) {
    Names names = known;
    Labels labels =
        new Labels(
            known(names.operations, summary.operation()),
            known(names.models.keySet(), summary.model()),
            known(names.rejected.keySet(), summary.plan()),
            bounded(summary.status()),
            summary.reason());
    Series counted = series.get(labels);
    if (counted == null) {
      counted = series.computeIfAbsent(labels, this::register);
    }
    counted.requests.increment();
    counted.duration.record(summary.durationNanos(), TimeUnit.NANOSECONDS);
    if (summary.firstByteNanos() >= 0) {
      counted.firstByte.record(summary.firstByteNanos(), TimeUnit.NANOSECONDS);
    }
    if (counted.rejected != null) {
      counted.rejected.increment();
    }
    counted.model.count(summary);
    count(labels, "input", summary.usage().inputTokens());
    count(labels, "output", summary.usage().outputTokens());
  }

  private void count(Labels labels, String type, long count) {
    if (count == Usage.UNKNOWN) {
      return;
    }
    TokenLabels wanted = new TokenLabels(labels.model, labels.plan, type);
    DistributionSummary found = tokens.get(wanted);
    if (found == null) {
      found = tokens.computeIfAbsent(wanted, this::register);
    }
    found.record((double) count);
  }

  private DistributionSummary register(TokenLabels labels) {
    return Meters.TOKEN_USAGE.tokens(registry, labels.model, labels.plan, labels.type);
  }

  private Series register(Labels labels) {
    String reason = labels.reason == null ? "none" : labels.reason.label();
    boolean slotsBusy =
        labels.reason == Reason.SLOTS_OF_PLAN || labels.reason == Reason.SLOTS_OF_KEY;
    return new Series(
        Meters.REQUESTS.counter(
            registry,
            labels.operation,
            labels.model,
            labels.plan,
            Integer.toString(labels.status),
            reason),
        Meters.REQUEST_DURATION.histogram(registry, labels.operation, labels.model),
        Meters.TIME_TO_FIRST_BYTE.histogram(registry, labels.operation, labels.model),
        slotsBusy ? known.rejected.get(labels.plan) : null,
        Objects.requireNonNull(known.models.get(labels.model)));
  }

  private static String known(Set<String> names, @Nullable String name) {
    return name != null && names.contains(name) ? name : ExchangeSummary.UNKNOWN;
  }

  private static int bounded(int status) {
    return status >= 100 && status <= 599 ? status : 0;
  }

  /** The labels of one series of {@link Meters#REQUESTS}, names already bounded. */
  private record Labels(
      String operation, String model, String plan, int status, @Nullable Reason reason) {}

  /** The labels of one series of {@link Meters#TOKEN_USAGE}. */
  private record TokenLabels(String model, String plan, String type) {}

  /** The meters that an exchange with the same labels moves. */
  private record Series(
      Counter requests,
      Timer duration,
      Timer firstByte,
      @Nullable Counter rejected,
      ModelMeters model) {}

  /**
   * The meters that have no label but the model. Registered at the start, so that they show as 0.
   */
  private static final class ModelMeters {
    private final Map<End, Counter> streamsEnded = new EnumMap<>(End.class);
    private final Map<Reason, Counter> retries = new EnumMap<>(Reason.class);
    private final Counter retriesDenied;
    private final Counter bytesIn;
    private final Counter bytesOut;
    private final Counter events;

    ModelMeters(MeterRegistry registry, String model) {
      for (End end : End.values()) {
        streamsEnded.put(end, Meters.STREAMS_ENDED.counter(registry, model, end.label()));
      }
      for (Reason reason : Reason.values()) {
        if (reason.isRetriable()) {
          retries.put(reason, Meters.RETRIES.counter(registry, model, reason.label()));
        }
      }
      retriesDenied = Meters.RETRIES_DENIED.counter(registry, model);
      bytesIn = Meters.BYTES.counter(registry, model, "in");
      bytesOut = Meters.BYTES.counter(registry, model, "out");
      events = Meters.EVENTS.counter(registry, model);
    }

    void count(ExchangeSummary summary) {
      bytesIn.increment((double) summary.bytesIn());
      bytesOut.increment((double) summary.bytesOut());
      if (summary.stream()) {
        Objects.requireNonNull(streamsEnded.get(summary.end())).increment();
      }
      if (summary.retried() != null) {
        Objects.requireNonNull(retries.get(summary.retried())).increment();
      }
      if (summary.retryDenied()) {
        retriesDenied.increment();
      }
      if (summary.events() > 0) {
        events.increment((double) summary.events());
      }
    }
  }
}
