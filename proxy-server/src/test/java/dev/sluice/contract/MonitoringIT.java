package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.body;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.sha256;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.DeadPorts;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.PrometheusProcess;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import dev.sluice.testing.ScriptedUpstream;
import dev.sluice.testing.SluiceProcess;
import dev.sluice.testing.UpstreamProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The dashboard and the alert rules, as they are shipped, against the process under load and a
 * Prometheus that scrapes it: whatever a rule tells of is brought about, and every expression has a
 * value.
 */
@Tag("deploy")
class MonitoringIT {
  private static final Path DEPLOY = Path.of("..", "deploy");
  private static final Path RULES = DEPLOY.resolve("prometheus/sluice-rules.yaml");
  private static final Path DASHBOARD = DEPLOY.resolve("grafana/sluice-dashboard.json");
  private static final Path ADAPTER = DEPLOY.resolve("kubernetes/prometheus-adapter.yaml");
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Past the threshold of the rule on the time to the first byte. */
  private static final Duration SLOW = Duration.ofSeconds(11);

  private static final String PRO = "sk-pro";
  private static final String FREE = "sk-free";

  private final DeadPorts dead = new DeadPorts();
  private final UpstreamProcess well = UpstreamProcess.start();
  private final UpstreamProcess busy = UpstreamProcess.start();
  private final ScriptedUpstream silent = ScriptedUpstream.start();
  private final ScriptedUpstream breaking = ScriptedUpstream.start();
  private final ScriptedUpstream slow = ScriptedUpstream.start();
  private final ScriptedUpstream counting = ScriptedUpstream.start();
  private final CountDownLatch slowEnough = new CountDownLatch(1);
  private final List<RawClient> waiting = new ArrayList<>();
  private final SluiceProcess sluice = start();
  private final PrometheusProcess prometheus =
      PrometheusProcess.start(RULES, sluice.adminPort(), dead.refusing());
  private final SteadyLoad load =
      new SteadyLoad(sluice.port(), "m", List.of(PRO), 10, new SplittableRandom(1));

  private SluiceProcess start() {
    well.awaitListening();
    busy.awaitListening().command("status 503");
    silent.always(Script.stall());
    breaking.always(Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenClose());
    counting.always(Script.json("{\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":3}}"));
    slow.answers(
        Script.stream("data: 1\n\n", Script.DONE),
        Script.raw("").thenAwait(slowEnough).then(Script.stream("data: 1\n\n", Script.DONE)));
    return SluiceProcess.start(
        config(),
        """
        subscriptions: {acme: {plan: pro}, hobby: {plan: free}}
        keys:
          - {name: pro, sha256: "%s", subscription: acme}
          - {name: free, sha256: "%s", subscription: hobby}
        """
            .formatted(sha256(PRO), sha256(FREE)),
        Map.of(),
        List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
  }

  private String config() {
    return """
    listen: 127.0.0.1:0
    admin: 127.0.0.1:0
    keys: keys.yaml
    limits: {memory-budget: 1MiB}
    plans:
      pro: {streams: 100, models: ["*"]}
      free: {streams: 1, models: [silent]}
    models:
      m:
        probe: {interval: 500ms}
        upstreams: [{url: "http://127.0.0.1:%d"}, {url: "http://127.0.0.1:%d"}]
      out: {upstreams: [{url: "http://127.0.0.1:%d"}]}
      silent: {upstreams: [{url: "http://127.0.0.1:%d"}]}
      breaking: {upstreams: [{url: "http://127.0.0.1:%d"}]}
      slow: {upstreams: [{url: "http://127.0.0.1:%d"}]}
      counting: {upstreams: [{url: "http://127.0.0.1:%d"}]}
    """
        .formatted(
            well.port(),
            busy.port(),
            dead.refusing(),
            silent.port(),
            breaking.port(),
            slow.port(),
            counting.port());
  }

  @AfterEach
  void stop() {
    slowEnough.countDown();
    waiting.forEach(RawClient::close);
    load.close();
    prometheus.close();
    sluice.close();
    well.close();
    busy.close();
    silent.close();
    breaking.close();
    slow.close();
    counting.close();
    dead.close();
  }

  @Test
  void everyExpressionOfThePanelsAndTheRulesHasAValue() throws IOException {
    Map<String, String> expressions = panels();
    expressions.put("autoscaler", autoscaler());
    String drain = null;
    for (Map<String, Object> rule : prometheus.rules()) {
      assertThat(rule.get("health")).as("%s", rule).isNotEqualTo("err");
      String name = String.valueOf(rule.get("name"));
      if (name.equals("SluiceDrainStuck")) {
        drain = String.valueOf(rule.get("query"));
      } else {
        expressions.put(name, String.valueOf(rule.get("query")));
      }
    }
    assertThat(drain).isNotNull();
    assertThat(expressions.keySet()).contains("SluiceDown", "Memory 1").hasSizeGreaterThan(50);

    Eventually.within(
        PATIENCE,
        "Prometheus has seen every counter before it counts",
        () -> prometheus.hasValue("sluice_ready == 1"));
    provokeForGood();
    try {
      Eventually.within(
          PATIENCE,
          "every expression has a value",
          () -> {
            provokeOnceMore();
            expressions.values().removeIf(prometheus::hasValue);
            return expressions.isEmpty();
          });
    } finally {
      assertThat(expressions).as("expressions without a value").isEmpty();
    }
    load.assertNoViolations();

    operate("/drain?deadline=10m");
    String draining = String.valueOf(drain);
    Eventually.within(PATIENCE, "the drain has a value", () -> prometheus.hasValue(draining));
  }

  /** The expressions of all panels, by title and number, without the dashboard's variables. */
  private static Map<String, String> panels() throws IOException {
    Map<String, String> expressions = new LinkedHashMap<>();
    for (Map<String, Object> panel :
        Json.objects(Json.object(Files.readString(DASHBOARD)), "panels")) {
      if ("row".equals(panel.get("type"))) {
        continue;
      }
      int number = 1;
      for (Map<String, Object> query : Json.objects(panel, "targets")) {
        String expression =
            String.valueOf(query.get("expr"))
                .replace("$instance", ".*")
                .replace("$__rate_interval", "30s");
        assertThat(expression).as("a variable that is not known here").doesNotContain("$");
        expressions.put(panel.get("title") + " " + number++, expression);
      }
    }
    return expressions;
  }

  /** What the autoscaler follows, as the adapter asks Prometheus for it. */
  private static String autoscaler() throws IOException {
    Matcher query = Pattern.compile("metricsQuery: '(.*)'").matcher(Files.readString(ADAPTER));
    assertThat(query.find()).isTrue();
    return query.group(1).replace("<<.GroupBy>>", "instance").replace("<<.LabelMatchers>>", "");
  }

  /** What states last: from here on they hold until the end of the test. */
  private void provokeForGood() throws IOException {
    operate("/endpoints/127.0.0.1:" + dead.refusing() + "/eject");
    try (RawClient quick = RawClient.connect(sluice.port())) {
      assertThat(quick.exchange(stream(CHAT, "slow").key(PRO)).status()).isEqualTo(200);
    }
    send(stream(CHAT, "silent").key(FREE)); // the only slot of its plan
    String padding = "\"padding\":\"" + "x".repeat(900_000) + "\",";
    send(Request.post(CHAT, body("silent", padding)).key(PRO)); // most of the memory
    RawClient late = send(stream(CHAT, "slow").key(PRO));
    long sentNanos = System.nanoTime();
    replace(sluice.keysFile(), "keys: nonsense\n");
    Eventually.within(
        PATIENCE,
        "the slow answer is late enough",
        () -> {
          provokeOnceMore();
          return System.nanoTime() - sentNanos > SLOW.toNanos();
        });
    slowEnough.countDown();
    assertThat(late.read().status()).isEqualTo(200);
    replace(sluice.configFile(), "nonsense: 1\n");
  }

  private RawClient send(Request request) {
    RawClient client = RawClient.connect(sluice.port()).send(request);
    waiting.add(client);
    return client;
  }

  /** What is counted: a rate needs a further one after the first. */
  private void provokeOnceMore() {
    assertThat(status(stream(CHAT, "out").key(PRO))).isEqualTo(503);
    assertThat(status(stream(CHAT, "breaking").key(PRO))).isEqualTo(200);
    assertThat(status(stream(CHAT, "silent").key(FREE))).isEqualTo(429);
    assertThat(status(chat("counting").key(PRO))).isEqualTo(200);
  }

  private int status(Request request) {
    try (RawClient client = RawClient.connect(sluice.port())) {
      return client.exchange(request).status();
    }
  }

  private void operate(String call) {
    assertThat(sluice.admin(Request.of("POST", call)).status()).isEqualTo(200);
  }

  private static void replace(Path file, String text) throws IOException {
    Path beside = Files.writeString(file.resolveSibling(file.getFileName() + ".new"), text);
    Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
