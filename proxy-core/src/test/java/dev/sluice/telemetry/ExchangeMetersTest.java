package dev.sluice.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Usage;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ExchangeMetersTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final ExchangeMeters meters =
      new ExchangeMeters(
          registry, List.of("chat_completions", "models"), List.of("small"), List.of("free"));

  @Test
  void anAnsweredStreamMovesEveryMeterOfItsLabels() {
    meters.ended(stream("chat_completions", "small", "free", End.DONE));

    assertThat(
            Meters.REQUESTS
                .counter(registry, "chat_completions", "small", "free", "200", "none")
                .count())
        .isEqualTo(1);
    assertThat(Meters.STREAMS_ENDED.counter(registry, "small", "done").count()).isEqualTo(1);
    assertThat(Meters.BYTES.counter(registry, "small", "in").count()).isEqualTo(100);
    assertThat(Meters.BYTES.counter(registry, "small", "out").count()).isEqualTo(2_000);
    assertThat(Meters.EVENTS.counter(registry, "small").count()).isEqualTo(7);
    assertThat(
            Meters.REQUEST_DURATION
                .histogram(registry, "chat_completions", "small")
                .totalTime(TimeUnit.MILLISECONDS))
        .isCloseTo(1_500, within(0.001));
    assertThat(
            Meters.TIME_TO_FIRST_BYTE
                .histogram(registry, "chat_completions", "small")
                .totalTime(TimeUnit.MILLISECONDS))
        .isCloseTo(40, within(0.001));
    assertThat(tokens("small", "free", "input")).isEqualTo(30);
    assertThat(tokens("small", "free", "output")).isEqualTo(400);
  }

  @Test
  void tokensThatNobodyToldAreNotCountedAsNone() {
    meters.ended(failed("small", "free", 502, Reason.UPSTREAM_CLOSED));

    assertThat(registry.find("gen.ai.client.token.usage").summaries()).isEmpty();
  }

  private double tokens(String... labels) {
    return Meters.TOKEN_USAGE.tokens(registry, labels).totalAmount();
  }

  @Test
  void namesThatAreNotConfiguredAreUnknownHoweverManyThereAre() {
    for (int i = 0; i < 1_000; i++) {
      meters.ended(stream("op\n" + i, "model\"" + i, "plan" + i, End.DONE));
    }

    assertThat(labelValues("operation")).containsExactly("unknown");
    assertThat(labelValues("model")).containsExactly("small", "unknown");
    assertThat(labelValues("plan")).containsExactly("free", "unknown");
    assertThat(labelValues("gen_ai_request_model")).containsExactly("unknown");
    assertThat(tokens("unknown", "unknown", "input")).isEqualTo(30_000);
    assertThat(
            Meters.REQUESTS
                .counter(registry, "unknown", "unknown", "unknown", "200", "none")
                .count())
        .isEqualTo(1_000);
  }

  @Test
  void namesThatAreMadeKnownAreToldApartBesideThoseOfBefore() {
    meters.ended(stream("embeddings", "new", "team", End.DONE));
    meters.know(List.of("embeddings"), List.of("new"), List.of("team"));
    meters.ended(stream("embeddings", "new", "team", End.DONE));
    meters.ended(stream("chat_completions", "small", "free", End.DONE));

    for (List<String> names :
        List.of(
            List.of("unknown", "unknown", "unknown"),
            List.of("embeddings", "new", "team"),
            List.of("chat_completions", "small", "free"))) {
      assertThat(
              Meters.REQUESTS
                  .counter(registry, names.get(0), names.get(1), names.get(2), "200", "none")
                  .count())
          .isEqualTo(1);
    }
    assertThat(Meters.STREAM_SLOTS_REJECTED.counter(registry, "team").count()).isZero();
  }

  @Test
  void aRequestOfWhichNothingIsKnownIsCountedAsUnknown() {
    meters.ended(failed(null, null, 401, Reason.KEY_MISSING));

    assertThat(
            Meters.REQUESTS
                .counter(registry, "chat_completions", "unknown", "unknown", "401", "key_missing")
                .count())
        .isEqualTo(1);
  }

  @Test
  void aClientThatLeftBeforeAnAnswerHasStatus0AndNoFirstByte() {
    meters.ended(
        new ExchangeSummary(
            0,
            "req_1",
            new TraceContext(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0, 0, null),
            "chat_completions",
            "small",
            "free",
            "k",
            0,
            null,
            true,
            10,
            0,
            0,
            Usage.NONE,
            -1,
            5_000_000,
            null,
            1,
            List.of(),
            null,
            false,
            End.CLIENT));

    assertThat(
            Meters.REQUESTS
                .counter(registry, "chat_completions", "small", "free", "0", "none")
                .count())
        .isEqualTo(1);
    assertThat(Meters.TIME_TO_FIRST_BYTE.histogram(registry, "chat_completions", "small").count())
        .isZero();
    assertThat(Meters.STREAMS_ENDED.counter(registry, "small", "client").count()).isEqualTo(1);
  }

  @Test
  void aStatusThatCannotBeIsNoLabelValueOfItsOwn() {
    meters.ended(failed("small", "free", -7, Reason.INTERNAL));
    meters.ended(failed("small", "free", 123_456, Reason.INTERNAL));

    assertThat(labelValues("status")).containsExactly("0");
  }

  @Test
  void busySlotsOfPlanOrKeyAreRejectionsAndNothingElseIs() {
    meters.ended(failed("small", "free", 429, Reason.SLOTS_OF_PLAN));
    meters.ended(failed("small", "free", 429, Reason.SLOTS_OF_KEY));
    meters.ended(failed("small", "free", 503, Reason.UPSTREAM_RATE_LIMITED));
    meters.ended(stream("chat_completions", "small", "free", End.DONE));

    assertThat(Meters.STREAM_SLOTS_REJECTED.counter(registry, "free").count()).isEqualTo(2);
  }

  @Test
  void everyWayOfEndingAndEveryReasonIsCounted() {
    for (End end : End.values()) {
      meters.ended(stream("chat_completions", "small", "free", end));
    }
    for (Reason reason : Reason.values()) {
      meters.ended(failed("small", "free", reason.status(), reason));
    }

    for (End end : End.values()) {
      assertThat(Meters.STREAMS_ENDED.counter(registry, "small", end.label()).count()).isEqualTo(1);
    }
    for (Reason reason : Reason.values()) {
      String status = Integer.toString(reason.status());
      assertThat(
              Meters.REQUESTS
                  .counter(registry, "chat_completions", "small", "free", status, reason.label())
                  .count())
          .isEqualTo(1);
    }
  }

  @Test
  void anAnswerThatWasNoStreamEndsNoStream() {
    meters.ended(failed("small", "free", 404, Reason.MODEL_UNKNOWN));

    for (End end : End.values()) {
      assertThat(Meters.STREAMS_ENDED.counter(registry, "small", end.label()).count()).isZero();
    }
  }

  @Test
  void streamsAndRejectionsShowAsZeroBeforeTheFirst() {
    assertThat(registry.find("sluice.streams.ended.total").counters())
        .hasSize(2 * End.values().length);
    assertThat(registry.find("sluice.stream.slots.rejected.total").counters()).hasSize(2);
  }

  @Test
  void recordingBuildsNoTagsAndNoStrings() {
    ExchangeSummary summary = stream("chat_completions", "small", "free", End.DONE);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    for (int i = 0; i < 10_000; i++) {
      meters.ended(summary);
    }
    int exchanges = 10_000;
    long before = threads.getThreadAllocatedBytes(thread);
    for (int i = 0; i < exchanges; i++) {
      meters.ended(summary);
    }
    long bytes = threads.getThreadAllocatedBytes(thread) - before;

    // The key of the look-up is 32 bytes; one Tags object alone is some hundred.
    assertThat(bytes / exchanges).isLessThan(128);
  }

  private Set<String> labelValues(String label) {
    return registry.getMeters().stream()
        .map(Meter::getId)
        .flatMap(id -> id.getTags().stream())
        .filter(tag -> tag.getKey().equals(label))
        .map(Tag::getValue)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static ExchangeSummary stream(String operation, String model, String plan, End end) {
    return new ExchangeSummary(
        0,
        "req_1",
        new TraceContext(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0, 0, null),
        operation,
        model,
        plan,
        "k",
        200,
        null,
        true,
        100,
        2_000,
        7,
        new Usage(30, 400),
        40_000_000,
        1_500_000_000,
        null,
        1,
        List.of(),
        null,
        false,
        end);
  }

  private static ExchangeSummary failed(
      @Nullable String model, @Nullable String plan, int status, Reason reason) {
    return new ExchangeSummary(
        0,
        "req_1",
        new TraceContext(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0, 0, null),
        "chat_completions",
        model,
        plan,
        null,
        status,
        reason,
        false,
        0,
        200,
        0,
        Usage.NONE,
        1_000_000,
        1_000_000,
        null,
        1,
        List.of(),
        null,
        false,
        End.DONE);
  }
}
