package dev.sluice.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.sluice.access.KeyCacheCounts;
import dev.sluice.access.Plan;
import dev.sluice.accesslog.AccessLog;
import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Catalog;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Probe;
import dev.sluice.cluster.Timeouts;
import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Usage;
import dev.sluice.slots.StreamSlots;
import dev.sluice.telemetry.EndpointMeters;
import dev.sluice.telemetry.ExchangeMeters;
import dev.sluice.telemetry.Meters;
import dev.sluice.telemetry.StateMeters;
import dev.sluice.upstream.ConnectionCounts;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a scrape shows, held against the enum of meters. */
class ExpositionTest {
  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)(?: # .*)?");
  private static final Pattern LABEL =
      Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\.)*)\",?");
  private static final Map<String, Set<String>> LABEL_VALUES =
      Map.of(
          "operation", Set.of("chat_completions", "messages", "models", "unknown"),
          "model", Set.of("small", "openai/gpt-oss-120b", "unknown", "*"),
          "plan", Set.of("free", "pro", "unknown"),
          "result",
              Set.of(
                  "hit",
                  "hit_unknown",
                  "miss",
                  "miss_unknown",
                  "failed",
                  "ok",
                  "refused",
                  "valid",
                  "invalid",
                  "slowed",
                  "exported",
                  "dropped"),
          "state", Set.of("connecting", "active", "idle"),
          "direction", Set.of("in", "out"),
          "endpoint", Set.of("10.0.0.1:8000/v"),
          "cause",
              Stream.concat(
                      Arrays.stream(End.values()).map(End::label),
                      Arrays.stream(LiveEndpoint.Cause.values()).map(LiveEndpoint.Cause::label))
                  .collect(Collectors.toSet()),
          "version", Set.of("1.2.3"),
          "java", Set.of(Runtime.version().toString()));

  private final Metrics metrics =
      new Metrics("1.2.3", ByteBufAllocator.DEFAULT, () -> Readiness.READY);
  private final EndpointMeters endpointMeters = new EndpointMeters(metrics.registry(), () -> 0);
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  @TempDir private Path directory;
  private AccessLog accessLog;

  @BeforeEach
  void bindEverythingAndRecordUglyExchanges() throws IOException {
    MeterRegistry registry = metrics.registry();
    List<Plan> plans =
        List.of(
            new Plan("free", 2, Plan.UNBOUNDED, Set.of(), true),
            new Plan("pro", 100, 10, Set.of(), true));
    List<String> models = List.of("small", "openai/gpt-oss-120b");
    StateMeters.bindKeyCache(registry, new KeyCacheCounts());
    new StateMeters(registry, new StreamSlots(), model -> new ConnectionCounts())
        .follow(plans, models);
    endpointMeters.follow(new Catalog(List.of(model())));
    Meters.KEYS_RELOAD.counter(registry, "ok");
    Meters.KEYS_RELOAD.counter(registry, "refused").increment();
    Meters.CONFIG_RELOAD.counter(registry, "ok");
    Meters.CONFIG_RELOAD.counter(registry, "refused");
    Meters.CONFIG_LOADED_TIMESTAMP.gauge(registry, () -> 6);
    Meters.DOWNSTREAM_CONNECTIONS.gauge(registry, () -> 3);
    Meters.EXCHANGES_OPEN.gauge(registry, () -> 2);
    Meters.MAINTENANCE_REMAINING.gauge(registry, () -> 1, "*");
    for (String result : List.of("valid", "invalid", "slowed", "failed")) {
      Meters.STATUS_KEY_CHECKS.counter(registry, result);
    }
    Meters.SPANS.counter(registry, "exported");
    Meters.SPANS.counter(registry, "dropped");
    Meters.DRAINING.gauge(registry, () -> 0);
    Meters.MEMORY_BUDGET_HELD.gauge(registry, () -> 4);
    Meters.MEMORY_BUDGET_LIMIT.gauge(registry, () -> 5);
    accessLog = AccessLog.toFile(directory.resolve("log"));
    accessLog.bindTo(registry);
    metrics.bindLoops(group);

    ExchangeMeters exchanges =
        new ExchangeMeters(
            registry,
            List.of("chat_completions", "messages", "models"),
            models,
            List.of("free", "pro"));
    List<String> names = new ArrayList<>(models);
    names.addAll(List.of("\"}\n# EOF\nevil 1", "sk-a-key-by-mistake", "", "\0", "\ud800"));
    for (String name : names) {
      for (Reason reason : Reason.values()) {
        exchanges.ended(exchange(name, "free", reason.status(), reason));
      }
      exchanges.ended(exchange("small", name, 200, null));
    }
  }

  private static Model model() {
    return new Model(
        "small",
        null,
        List.of(new Endpoint("10.0.0.1", 8000, false, "/v", null)),
        Timeouts.DEFAULT,
        Balance.LEAST_EXCHANGES,
        Model.DEFAULT_ATTEMPTS,
        Probe.DEFAULT,
        "acme",
        Instant.EPOCH);
  }

  @AfterEach
  void close() {
    accessLog.close();
    metrics.close();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  @Test
  void everyMeterIsThereWithItsTypeItsMeaningAndItsLabels() throws IOException {
    for (String form : List.of(AdminRoutes.PROMETHEUS_TEXT, AdminRoutes.OPEN_METRICS)) {
      String text = scrape(form);
      List<Sample> samples = samples(text);
      for (Meters meter : Meters.values()) {
        String name = meter.prometheusName();
        boolean histogram = meter.type() == Meters.Type.HISTOGRAM;
        List<Sample> own =
            samples.stream()
                .filter(sample -> sample.name.equals(histogram ? name + "_count" : name))
                .toList();

        assertThat(own).as(name).isNotEmpty();
        assertThat(own)
            .allSatisfy(
                sample ->
                    assertThat(sample.labels.keySet())
                        .containsExactlyInAnyOrderElementsOf(meter.labels()));
        String family = form.equals(AdminRoutes.OPEN_METRICS) ? family(name) : name;
        assertThat(text).contains("# HELP " + family + " " + meter.description() + "\n");
        if (meter != Meters.BUILD_INFO) { // In OpenMetrics it has a type of its own.
          String type = meter.type().name().toLowerCase(Locale.ROOT);
          assertThat(text).contains("# TYPE " + family + " " + type + "\n");
        }
      }
    }
  }

  @Test
  void nothingOfSluiceIsThereThatIsNoMeterOfTheEnum() throws IOException {
    Set<String> expected = new TreeSet<>();
    for (Meters meter : Meters.values()) {
      String name = meter.prometheusName();
      if (meter.type() == Meters.Type.HISTOGRAM) {
        expected.addAll(List.of(name + "_bucket", name + "_count", name + "_sum", name + "_max"));
      } else {
        expected.add(name);
      }
    }
    Set<String> found =
        samples(scrape(AdminRoutes.PROMETHEUS_TEXT)).stream()
            .map(sample -> sample.name)
            .filter(ExpositionTest::isOwn)
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(found).isEqualTo(expected);
  }

  @Test
  void noLabelHasAValueThatIsNotConfigured() throws IOException {
    Set<String> statuses = new TreeSet<>(Set.of("200"));
    Set<String> reasons = new TreeSet<>(Set.of("none"));
    for (Reason reason : Reason.values()) {
      statuses.add(Integer.toString(reason.status()));
      reasons.add(reason.label());
    }
    for (Sample sample : samples(scrape(AdminRoutes.PROMETHEUS_TEXT))) {
      if (!isOwn(sample.name)) {
        continue;
      }
      sample.labels.forEach(
          (label, value) -> {
            switch (label) {
              case "status" -> assertThat(value).isIn(statuses);
              case "reason" -> assertThat(value).isIn(reasons);
              case "gen_ai_request_model" -> assertThat(value).isIn(LABEL_VALUES.get("model"));
              case "gen_ai_token_type" -> assertThat(value).isIn("input", "output");
              case "le" -> assertThat(value).matches("\\+Inf|[0-9.]+(E[0-9]+)?");
              default -> assertThat(value).as(sample.name).isIn(LABEL_VALUES.get(label));
            }
          });
    }
    assertThat(scrape(AdminRoutes.PROMETHEUS_TEXT)).doesNotContain("sk-a-key", "evil");
  }

  @Test
  void bucketsReachFromFiveMillisecondsToTenMinutes() throws IOException {
    List<String> bounds =
        samples(scrape(AdminRoutes.PROMETHEUS_TEXT)).stream()
            .filter(sample -> sample.name.equals("sluice_request_duration_seconds_bucket"))
            .filter(sample -> "models".equals(sample.labels.get("operation")))
            .filter(sample -> "small".equals(sample.labels.get("model")))
            .map(sample -> sample.labels.get("le"))
            .toList();

    assertThat(bounds).hasSize(17).startsWith("0.005", "0.01", "0.025").endsWith("600.0", "+Inf");
  }

  @Test
  void bucketsOfTokensAreThoseOfTheConventions() throws IOException {
    List<String> bounds =
        samples(scrape(AdminRoutes.PROMETHEUS_TEXT)).stream()
            .filter(sample -> sample.name.equals("gen_ai_client_token_usage_bucket"))
            .filter(sample -> "small".equals(sample.labels.get("gen_ai_request_model")))
            .filter(sample -> "free".equals(sample.labels.get("plan")))
            .filter(sample -> "input".equals(sample.labels.get("gen_ai_token_type")))
            .map(sample -> sample.labels.get("le"))
            .toList();

    assertThat(bounds)
        .hasSize(15)
        .startsWith("1.0", "4.0", "16.0")
        .endsWith("1.6777216E7", "6.7108864E7", "+Inf");
  }

  @Test
  void theJvmTheProcessTheAllocatorAndTheLoopsAreMetered() throws IOException {
    assertThat(samples(scrape(AdminRoutes.PROMETHEUS_TEXT)))
        .extracting(sample -> sample.name)
        .contains(
            "jvm_memory_used_bytes",
            "jvm_gc_live_data_size_bytes",
            "jvm_threads_live_threads",
            "process_cpu_usage",
            "process_uptime_seconds",
            "process_files_open_files",
            "netty_allocator_memory_used",
            "netty_eventexecutor_tasks_pending");
  }

  @Test
  void aScrapeSeesTheMetersBeforeAChangeOrAfterIt() {
    CompletableFuture<Void> changing =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < 500; i++) {
                Catalog next = new Catalog(List.of(model()));
                metrics.change(() -> endpointMeters.follow(next));
              }
            });
    do {
      assertThatCode(() -> scrape(AdminRoutes.PROMETHEUS_TEXT)).doesNotThrowAnyException();
    } while (!changing.isDone());
    assertThat(changing).isCompletedWithValue(null);
  }

  private String scrape(String form) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    metrics.scrape(out, form);
    return out.toString(StandardCharsets.UTF_8);
  }

  private static boolean isOwn(String name) {
    return name.startsWith("sluice") || name.startsWith("gen_ai");
  }

  private static String family(String name) {
    return name.replaceFirst("_(total|info)$", "");
  }

  private static ExchangeSummary exchange(
      String model, String plan, int status, @Nullable Reason reason) {
    return new ExchangeSummary(
        0,
        "req_1",
        new TraceContext(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0, 0, null),
        reason == null ? "models" : model,
        model,
        plan,
        "acme-prod",
        status,
        reason,
        true,
        1,
        2,
        3,
        new Usage(30, 4_000),
        4_000_000,
        5_000_000,
        null,
        1,
        List.of(),
        null,
        false,
        End.DONE);
  }

  private static List<Sample> samples(String text) {
    List<Sample> samples = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      Matcher sample = SAMPLE.matcher(line);
      assertThat(sample.matches()).as(line).isTrue();
      Map<String, String> labels = new TreeMap<>();
      if (sample.group(2) != null) {
        Matcher label = LABEL.matcher(sample.group(2));
        int end = 0;
        while (label.find() && label.start() == end) {
          labels.put(label.group(1), label.group(2));
          end = label.end();
        }
        assertThat(end).as(line).isEqualTo(sample.group(2).length());
      }
      assertThat(sample.group(3)).matches("[+-]?(Inf|NaN|[0-9.]+(E-?[0-9]+)?)");
      samples.add(new Sample(sample.group(1), labels));
    }
    return samples;
  }

  private record Sample(String name, Map<String, String> labels) {}
}
