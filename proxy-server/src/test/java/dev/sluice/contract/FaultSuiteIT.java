package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Errors.assertErrorEvent;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.contract.SteadyLoad.Failed;
import dev.sluice.contract.SteadyLoad.Tally;
import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.Metrics;
import dev.sluice.testing.Order;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Signals;
import dev.sluice.testing.SluiceProcess;
import dev.sluice.testing.UpstreamProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The process before three upstreams that are processes too, under a constant load of 200 exchanges
 * at once, while one thing after the other goes wrong. Each answer is checked byte by byte; each
 * exchange that did not complete is looked up in the access log, and was needed or not.
 *
 * <p>An exchange <em>failed without need</em> unless one of these holds:
 *
 * <ul>
 *   <li>Sluice itself had to turn it away or break it off, by a reason that is the scenario's own:
 *       no memory, a revoked key, a limit that shrank, draining. Had it been forwarded already,
 *       only revocation and draining count.
 *   <li>The endpoint tried last was the faulty one of the scenario, and its answer had begun.
 *   <li>The endpoint tried last was the faulty one, nothing of an answer had been sent, and the
 *       failure is one after which the request must not be sent again: a time-out, or an error
 *       other than 502, 503 and 429. After every other failure the request could go elsewhere: two
 *       more endpoints were well.
 *   <li>It could have gone elsewhere, but a fifth of all exchanges under way were second tries
 *       already. That is counted apart.
 * </ul>
 *
 * <p>So a failure at an endpoint with which nothing is wrong is always one without need.
 */
@Tag("alone")
class FaultSuiteIT {
  private static final int AT_ONCE = 200;
  private static final int UPSTREAMS = 3;
  private static final Path REPORT = Path.of("target", "fault-report.txt");
  private static final List<String> KEYS = List.of("sk-a", "sk-b", "sk-c", "sk-d");

  private static final Set<String> MAY_GO_ELSEWHERE =
      Set.of(
          "upstream_no_endpoint",
          "upstream_connect",
          "upstream_connect_timeout",
          "upstream_closed",
          "upstream_unavailable",
          "upstream_rate_limited",
          "upstream_bad_gateway");

  private final SplittableRandom random =
      new SplittableRandom(Long.getLong("sluice.seed", System.nanoTime()));
  private final List<UpstreamProcess> upstreams = new ArrayList<>();
  private final List<String> report = new ArrayList<>();
  private final Map<String, Double> reloads = new HashMap<>();
  private final List<String> withoutNeed = new ArrayList<>();
  private final long startNanos = System.nanoTime();
  private final SluiceProcess sluice = start();
  private final AccessLogFile accessLog =
      new AccessLogFile(sluice.keysFile().resolveSibling("access.log"));
  private final SteadyLoad load = new SteadyLoad(sluice.port(), "m", KEYS, AT_ONCE, random.split());

  private SluiceProcess start() {
    for (int i = 0; i < UPSTREAMS; i++) {
      upstreams.add(UpstreamProcess.start());
    }
    upstreams.forEach(UpstreamProcess::awaitListening);
    return SluiceProcess.start(
        config(1000, 1),
        keys(""),
        Map.of(),
        List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dio.netty.leakDetection.level=paranoid"));
  }

  private String config(int streams, int weight) {
    return """
    listen: 127.0.0.1:0
    admin: 127.0.0.1:0
    access-log: ./access.log
    keys: keys.yaml
    revoke: cut
    limits: {max-body-bytes: 4MiB, memory-budget: 16MiB}
    plans:
      pro: {streams: %d, models: ["*"]}
    models:
      m:
        attempts: 2
        timeouts: {connect: 2s, first-byte: 3s, idle: 3s}
        probe: {interval: 500ms, timeout: 2s}
        upstreams:
          - {url: "%s", weight: %d}
          - {url: "%s"}
          - {url: "%s"}
    """
        .formatted(streams, url(0), weight, url(1), url(2));
  }

  private String url(int upstream) {
    return "http://127.0.0.1:" + upstreams.get(upstream).port();
  }

  private static String keys(String revoked) {
    StringBuilder keys = new StringBuilder("subscriptions: {acme: {plan: pro}}\nkeys:\n");
    for (String key : KEYS) {
      keys.append(
          "  - {name: %s, sha256: \"%s\", subscription: acme, revoked: %b}\n"
              .formatted(key, Scene.sha256(key), key.equals(revoked)));
    }
    return keys.toString();
  }

  @AfterEach
  void stop() {
    load.close();
    sluice.close();
    upstreams.forEach(UpstreamProcess::close);
  }

  @Test
  void noExchangeFailsWithoutNeedAndNothingIsLeftOver() throws IOException {
    try {
      scenario("all is well", Set.of(), Set.of(), () -> load.completeMore(200));
      scenario("one is killed, with RST", Set.of(url(0)), Set.of(), this::killOne);
      scenario("one is stopped", Set.of(url(1)), Set.of(), this::stopOne);
      scenario("one answers 500", Set.of(url(2)), Set.of(), () -> misbehave(2, "status 500"));
      scenario("one answers 503", Set.of(url(0)), Set.of(), () -> misbehave(0, "status 503"));
      scenario("one trickles", Set.of(url(1)), Set.of(), () -> misbehave(1, "trickle"));
      scenario(
          "all restart, one after the other",
          Set.of(url(0), url(1), url(2)),
          Set.of(),
          this::restartAll);
      scenario("the memory budget is full", Set.of(), Set.of("memory_budget"), this::fillMemory);
      scenario("20 reloads", Set.of(), Set.of("slots_of_plan"), this::reload);
      sluice.collectGarbage(); // what leaked is reported with what comes now
      scenario("a key is revoked", Set.of(), Set.of("key_revoked"), this::revoke);
      scenario("drained", Set.of(), Set.of("draining", "shutdown"), this::drain);
      load.close();
      load.assertNoViolations();
      assertNothingLeftOver();
      assertThat(withoutNeed).as("exchanges that failed without need").isEmpty();
    } finally {
      report.add("seconds: " + Duration.ofNanos(System.nanoTime() - startNanos).toSeconds());
      Files.write(REPORT, report);
      report.forEach(System.out::println);
    }
  }

  private void scenario(
      String name, Set<String> faulty, Set<String> ownReasons, Runnable whatHappens) {
    long begunNanos = System.nanoTime();
    double deniedBefore = sluice.metrics().sum("sluice_retries_denied_total");
    whatHappens.run();
    load.settle();
    Tally tally = load.tally();
    double denied = sluice.metrics().sum("sluice_retries_denied_total") - deniedBefore;
    Map<String, Integer> byReason = new TreeMap<>();
    List<Map<String, Object>> needless = new ArrayList<>();
    for (Failed failed : tally.failed()) {
      Map<String, Object> line = accessLog.line(failed.requestId());
      byReason.merge(line.get("reason") + (failed.begun() ? " (begun)" : ""), 1, Integer::sum);
      if (!isNeeded(failed, line, faulty, ownReasons)) {
        needless.add(line);
      }
    }
    int without = Math.max(0, needless.size() - (int) denied);
    report.add(
        String.format(
            Locale.ROOT,
            "%s: %.1f s, started %d, completed %d, failed %d %s, without retry budget %.0f, without"
                + " need %d",
            name,
            (System.nanoTime() - begunNanos) / 1e9,
            tally.started(),
            tally.completed(),
            tally.failed().size(),
            byReason,
            denied,
            without));
    load.assertNoViolations();
    if (without > 0) {
      withoutNeed.add(name + ": " + needless);
    }
  }

  private static boolean isNeeded(
      Failed failed, Map<String, Object> line, Set<String> faulty, Set<String> ownReasons) {
    String reason = String.valueOf(line.get("reason"));
    if (ownReasons.contains(reason)) {
      return !reason.equals("memory_budget") || line.get("upstream") == null;
    }
    return faulty.contains(line.get("upstream"))
        && (failed.begun() || !MAY_GO_ELSEWHERE.contains(reason));
  }

  /** Has an operator say that an endpoint is well, and waits until it is used again. */
  private void restore(int upstream) {
    UpstreamProcess process = upstreams.get(upstream);
    operate("/endpoints/127.0.0.1:" + process.port() + "/restore");
    long before = process.answered();
    Eventually.within(
        Duration.ofSeconds(30),
        "upstream " + upstream + " is used again",
        () -> process.answered() >= before + 20);
  }

  private Answer operate(String call) {
    Answer answer = sluice.admin(Request.of("POST", call));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer;
  }

  private void killOne() {
    upstreams.get(0).reset();
    load.completeMore(200);
    upstreams.get(0).startAgain();
    restore(0);
  }

  private void stopOne() {
    upstreams.get(1).stop();
    Eventually.that("a time-out", () -> load.failed() > 0);
    load.completeMore(200);
    upstreams.get(1).resume();
    restore(1);
  }

  private void misbehave(int upstream, String how) {
    upstreams.get(upstream).command(how);
    load.completeMore(200);
    upstreams.get(upstream).command("normal");
    restore(upstream);
  }

  private void restartAll() {
    for (int i = 0; i < UPSTREAMS; i++) {
      upstreams.get(i).kill();
      upstreams.get(i).startAgain();
      restore(i);
    }
  }

  /** Bodies that all but come, until there is no room for a further one. */
  private void fillMemory() {
    List<RawClient> slow = new ArrayList<>();
    List<Order> orders = new ArrayList<>();
    int bytes = 4_000_000;
    for (int turnedAway = 0; turnedAway < 20; ) {
      if (isTurnedAway()) {
        turnedAway++;
        continue;
      }
      turnedAway = 0;
      assertThat(slow).as("slow bodies before the budget is full").hasSizeLessThan(200);
      Order order = new Order("slow" + slow.size(), false, false, 0, 0, 100);
      String wire = order.request("m", KEYS.get(0), bytes).wire();
      RawClient client = RawClient.connect(sluice.port());
      client.sendAsFarAsTaken(wire.substring(0, wire.length() - 1));
      slow.add(client);
      orders.add(order);
      if (!client.isSilent(Duration.ofMillis(20))) {
        bytes = Math.max(bytes / 2, 100_000); // it did not fit
      }
    }
    load.settle();
    int safe = 0;
    for (int i = 0; i < slow.size(); i++) {
      try (RawClient client = slow.get(i)) {
        Answer answer = client.sendAsFarAsTaken("}").read();
        if (answer.status() == 200) {
          assertThat(answer.text()).isEqualTo(orders.get(i).whole());
          safe++;
        } else {
          assertError(answer, 503);
        }
      }
    }
    assertThat(safe).as("slow bodies that were held to their end").isGreaterThanOrEqualTo(3);
    load.completeMore(200);
  }

  /** Whether a request with a large body is answered 503. */
  private boolean isTurnedAway() {
    Order order = new Order("knock", false, false, 0, 0, 100);
    try (RawClient client = RawClient.connect(sluice.port())) {
      Answer answer =
          client.sendAsFarAsTaken(order.request("m", KEYS.get(0), 500_000).wire()).read();
      if (answer.status() == 200) {
        assertThat(answer.text()).isEqualTo(order.whole());
        return false;
      }
      assertError(answer, 503);
      return true;
    }
  }

  private void reload() {
    for (int i = 0; i < 20; i++) {
      // Every fifth version allows fewer streams than run.
      write("sluice.yaml", config(i % 5 == 4 ? 20 : 1001 + i, 1 + i % 3));
      awaitReload("ok", i % 4 != 0);
      load.completeMore(10);
    }
    write("sluice.yaml", config(1000, 0));
    awaitReload("refused", true);
    load.completeMore(100);
    write("sluice.yaml", config(1000, 1));
    awaitReload("ok", true);
    load.completeMore(100);
  }

  private void awaitReload(String result, boolean hangUp) {
    String label = "result=\"" + result + "\"";
    double before = reloads.getOrDefault(result, 0.0);
    if (hangUp) {
      Signals.send("HUP", sluice.pid());
    }
    sluice.awaitMetrics(
        "a version is " + result,
        metrics -> {
          reloads.put(result, metrics.sum("sluice_config_reload_total", label));
          return reloads.getOrDefault(result, 0.0) > before;
        });
  }

  private void write(String name, String text) {
    try {
      Path file = sluice.keysFile().resolveSibling(name);
      Path beside = file.resolveSibling(name + ".new");
      Files.writeString(beside, text);
      Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A stream that runs for longer than any scenario does, and its beginning was read. */
  private record LongStream(RawClient client, Answer head, StringBuilder events) {
    void assertBrokenOff(int status) {
      assertThat(client.readRest(events)).isEqualTo(Ending.BROKEN_OFF);
      assertErrorEvent(events.toString(), false, status, head.header("x-request-id"));
      client.close();
    }
  }

  private List<LongStream> longStreams(String key) {
    List<LongStream> streams = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Order order = new Order("long" + i, false, true, 10_000, 100, 10);
      RawClient client = RawClient.connect(sluice.port());
      Answer head = client.send(order.request("m", key)).readHead();
      assertThat(head.status()).isEqualTo(200);
      streams.add(new LongStream(client, head, new StringBuilder(client.readUntil("\n\n"))));
    }
    return streams;
  }

  private void revoke() {
    String key = KEYS.get(3);
    List<LongStream> cut = longStreams(key);
    List<LongStream> untouched = longStreams(KEYS.get(0));
    long start = System.nanoTime();
    write("keys.yaml", keys(key));
    cut.forEach(stream -> stream.assertBrokenOff(401));
    report.add(
        "last stream of a revoked key cut after "
            + Duration.ofNanos(System.nanoTime() - start).toMillis()
            + " ms");
    load.completeMore(200);
    for (LongStream stream : untouched) {
      assertThat(stream.client().readUntil("\n\n")).doesNotContain("error");
      stream.client().close();
    }
    write("keys.yaml", keys(""));
    Eventually.that(
        "the key is good again",
        () -> {
          try (RawClient client = RawClient.connect(sluice.port())) {
            return client.exchange(Request.get("/v1/models").key(key)).status() == 200;
          }
        });
    load.completeMore(200);
  }

  private void drain() {
    List<LongStream> running = longStreams(KEYS.get(0));
    assertThat(operate("/drain?deadline=2s").json().get("draining")).isEqualTo(true);
    assertThat(sluice.admin("/readyz").status()).isEqualTo(503);
    running.forEach(stream -> stream.assertBrokenOff(503));
    Eventually.that(
        "nothing is under way",
        () -> sluice.admin("/drain").json().get("exchanges") instanceof Integer left && left == 0);
    load.stop();
  }

  private void assertNothingLeftOver() {
    sluice.awaitMetrics(
        "nothing is left over",
        metrics ->
            metrics.sum("sluice_stream_slots_in_use") == 0
                && metrics.sum("sluice_memory_budget_held_bytes") == 0
                && metrics.sum("sluice_endpoint_exchanges") == 0
                && metrics.sum("sluice_upstream_connections", "state=\"active\"") == 0
                && metrics.sum("sluice_downstream_connections") == 0);
    Metrics metrics = sluice.metrics();
    assertThat(metrics.sum("sluice_access_log_dropped_total")).isZero();
    assertThat(metrics.sum("sluice_requests_total", "status=\"500\"")).isZero();
    sluice.terminate();
    assertThat(sluice.awaitExit(Duration.ofSeconds(10))).isZero();
    assertThat(sluice.stderr())
        .filteredOn(line -> line.contains(" ERROR "))
        .as("the version that was refused, and no other error")
        .isNotEmpty()
        .allMatch(line -> line.contains("ConfigWatcher"));
    assertThat(sluice.stderr()).noneMatch(line -> line.contains("LEAK"));
    assertThat(sluice.stderr()).noneMatch(line -> line.contains("\tat "));
  }

  /** The access log as a file: its lines of exchanges that failed, by request id. */
  private static final class AccessLogFile {
    private final Path file;
    private final Map<String, Map<String, Object>> failed = new HashMap<>();
    private int read;

    AccessLogFile(Path file) {
      this.file = file;
    }

    Map<String, Object> line(String requestId) {
      Eventually.that(
          "a line of " + requestId,
          () -> {
            if (!failed.containsKey(requestId)) {
              readOn();
            }
            return failed.containsKey(requestId);
          });
      return failed.getOrDefault(requestId, Map.of());
    }

    private void readOn() throws IOException {
      List<String> lines = Files.readAllLines(file);
      for (String line : lines.subList(read, lines.size())) {
        if (!line.contains("\"reason\":null")) {
          Map<String, Object> json = Json.object(line);
          failed.put(String.valueOf(json.get("request_id")), json);
        }
      }
      read = lines.size();
    }
  }
}
