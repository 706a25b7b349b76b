package dev.sluice.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.Capability;
import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Json;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.startupcheck.OneShotStartupCheckStrategy;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.ImageFromDockerfile;

/**
 * The project's own image, built from the jar that is already there, as it is meant to run: with a
 * mounted configuration, on a read-only root file system, without any capability.
 *
 * <p>{@code SLUICE_RUNTIME_IMAGE} and {@code SLUICE_PROMETHEUS_IMAGE} name other images than the
 * usual ones.
 */
@Tag("deploy")
class ContainerIT {
  private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();
  private static final String RUNTIME = image("SLUICE_RUNTIME_IMAGE", "eclipse-temurin:17-jre");
  private static final String PROMETHEUS =
      image("SLUICE_PROMETHEUS_IMAGE", "prom/prometheus:v3.7.3");
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration START = Duration.ofMinutes(2);
  private static final String KEY = "sk-for-tests";
  private static final String KEY_HASH =
      "75a1cd88a5fe8960a6b94a502dbdd2990ecdddb6fe24e84ca7e9af7d88f95184";
  private static final int HTTP = 8080;
  private static final int ADMIN = 9901;

  /** The demo upstream writes ten words a second. */
  private static final int WORDS_A_SECOND = 10;

  private static final ImageFromDockerfile IMAGE =
      new ImageFromDockerfile("sluice-under-test:latest", false)
          .withFileFromPath("deploy", PROJECT.resolve("deploy"))
          .withFileFromPath("sluice.jar", PROJECT.resolve("proxy-server/target/sluice.jar"))
          .withFileFromPath("Dockerfile", PROJECT.resolve("deploy/Dockerfile"))
          .withBuildArg("BUILD_IMAGE", RUNTIME)
          .withBuildArg("RUNTIME_IMAGE", RUNTIME)
          .withBuildArg("JAR", "sluice.jar");

  private static final Network NETWORK = Network.newNetwork();
  private static final GenericContainer<?> UPSTREAM =
      new GenericContainer<>(IMAGE)
          .withNetwork(NETWORK)
          .withNetworkAliases("upstream")
          .withCommand("demo-upstream")
          .waitingFor(Wait.forLogMessage("The demo upstream listens.*\\n", 1));

  @TempDir private Path mounted;
  private final List<GenericContainer<?>> containers = new ArrayList<>();

  private static String image(String variable, String usual) {
    return Objects.requireNonNullElse(System.getenv(variable), usual);
  }

  @BeforeAll
  static void startUpstream() {
    UPSTREAM.start();
  }

  @AfterAll
  static void stopUpstream() {
    UPSTREAM.stop();
    NETWORK.close();
  }

  @AfterEach
  void stop() {
    containers.forEach(GenericContainer::stop);
  }

  @Test
  void itServesOnAReadOnlyFileSystemWithoutRoot() throws Exception {
    GenericContainer<?> sluice = sluice();

    assertThat(exchange(sluice, chat(false, 3)).status()).isEqualTo(200);
    assertThat(exchange(sluice, chat(true, 3)).text()).endsWith("data: [DONE]\n\n");
    assertThat(sluice.execInContainer("id", "-u").getStdout().strip()).isNotEqualTo("0");
    assertThat(sluice.execInContainer("touch", "/anywhere").getExitCode()).isNotZero();
    assertThat(sluice.execInContainer("touch", "/tmp/anywhere").getExitCode()).isNotZero();
    assertThat(sluice.getLogs())
        .containsPattern("ready: (io_uring|epoll)")
        .doesNotContain("WARN", "ERROR");
    assertThat(sluice.execInContainer("grep", "sluice.jsa", "/proc/1/maps").getStdout())
        .as("the archive of classes is mapped")
        .isNotEmpty();
    Eventually.within(PATIENCE, "healthy", sluice::isHealthy);
  }

  @Test
  void sigtermDrainsInTheMiddleOfStreams() throws IOException {
    GenericContainer<?> sluice = sluice();
    List<RawClient> streams = begunStreams(sluice, 3, 12);

    signal(sluice, "TERM");
    awaitAdmin(sluice, "/readyz", answer -> answer.status() == 503);
    Answer refused = exchange(sluice, chat(true, 3));

    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.headers("retry-after")).isNotEmpty();
    streams.forEach(ContainerIT::assertWhole);
    assertThat(exitCode(sluice)).isZero();
    assertThat(sluice.getLogs()).contains("drained: exchanges broken off 0");
  }

  @Test
  void theDrainCommandReturnsWhenTheStreamsHaveEnded() throws Exception {
    GenericContainer<?> sluice = sluice();
    List<RawClient> streams = begunStreams(sluice, 2, 4);

    ExecResult drained = sluice.execInContainer("drain", "0");

    assertThat(drained.getExitCode()).as(drained.getStderr()).isZero();
    assertThat(admin(sluice, "/drain").json()).containsEntry("exchanges", 0);
    assertThat(admin(sluice, "/readyz").status()).isEqualTo(503);
    streams.forEach(ContainerIT::assertWhole);
  }

  @Test
  void aBrokenConfigurationIsToldAndIsTwo() throws IOException {
    GenericContainer<?> sluice = container(config().replace("streams: 50", "streams: 0"));
    sluice.withStartupCheckStrategy(new Ended());
    sluice.start();

    assertThat(exitCode(sluice)).isEqualTo(2);
    assertThat(sluice.getLogs().strip())
        .isEqualTo(
            "/etc/sluice/sluice.yaml:5: plans.pro.streams: 0 (expected: a whole number >= 1)");
  }

  @Test
  void withoutAConfigurationItSaysWhichFileItWants() {
    GenericContainer<?> sluice = new GenericContainer<>(IMAGE);
    containers.add(sluice);
    sluice.withStartupCheckStrategy(new Ended());
    sluice.start();

    assertThat(exitCode(sluice)).isEqualTo(2);
    assertThat(sluice.getLogs()).contains("sluice.yaml");
  }

  @Test
  void prometheusScrapesItAndItsRulesSeeNothingWrong() throws IOException {
    GenericContainer<?> sluice = sluice();
    assertThat(exchange(sluice, chat(true, 3)).status()).isEqualTo(200);
    GenericContainer<?> prometheus =
        new GenericContainer<>(PROMETHEUS)
            .withNetwork(NETWORK)
            .withFileSystemBind(
                PROJECT.resolve("deploy/prometheus").toString(),
                "/etc/prometheus",
                BindMode.READ_ONLY)
            .withExposedPorts(9090)
            .waitingFor(Wait.forHttp("/-/ready").withStartupTimeout(START));
    containers.add(prometheus);
    prometheus.start();

    Eventually.within(
        PATIENCE,
        "Prometheus has the meters of Sluice",
        () -> !result(prometheus, "query?query=sluice_ready==1").isEmpty());
    assertThat(result(prometheus, "query?query=up==1")).hasSize(1);
    List<Map<String, Object>> rules =
        Json.objects(
            Json.objects(
                    Json.object(get(prometheus, 9090, "/api/v1/rules").json(), "data"), "groups")
                .get(0),
            "rules");
    assertThat(rules)
        .isNotEmpty()
        .allSatisfy(rule -> assertThat(rule.get("lastError")).as("%s", rule).isNull())
        .allSatisfy(rule -> assertThat(rule.get("state")).as("%s", rule).isEqualTo("inactive"));
  }

  @Test
  void killedUnderLoadItServesAgainAfterARestart() throws IOException {
    GenericContainer<?> sluice = sluice();
    AtomicInteger port = new AtomicInteger(port(sluice, HTTP));
    try (Load load = new Load(port)) {
      load.awaitWhole(20);
      signal(sluice, "KILL");
      Eventually.within(PATIENCE, "it has ended", () -> !sluice.isRunning());
      Eventually.within(PATIENCE, "callers notice", () -> load.failed.get() > 0);

      sluice.getDockerClient().startContainerCmd(sluice.getContainerId()).exec();
      port.set(port(sluice, HTTP));
      awaitAdmin(sluice, "/readyz", answer -> answer.status() == 200);
      load.awaitWhole(40);
    }
    awaitAdmin(
        sluice,
        "/metrics",
        answer -> answer.text().contains("sluice_stream_slots_in_use{plan=\"pro\"} 0"));
  }

  /** Callers who ask for streams, one after the other, until they are told to stop. */
  private static final class Load implements AutoCloseable {
    private final List<Thread> callers = new ArrayList<>();
    private final AtomicInteger whole = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final List<String> wrong = new CopyOnWriteArrayList<>();
    private volatile boolean stopped;

    Load(AtomicInteger port) {
      for (int i = 0; i < 10; i++) {
        callers.add(new Thread(() -> call(port), "caller-" + i));
      }
      callers.forEach(Thread::start);
    }

    private void call(AtomicInteger port) {
      while (!stopped) {
        try (RawClient client = RawClient.connect(port.get())) {
          Answer answer = client.exchange(chat(true, 3));
          if (answer.status() == 200 && answer.ending() == Ending.WHOLE) {
            if (!answer.text().endsWith("data: [DONE]\n\n")) {
              wrong.add(answer.toString()); // a clean end without the stream's own
            }
            whole.incrementAndGet();
          } else {
            failed.incrementAndGet();
          }
        } catch (UncheckedIOException | AssertionError refusedOrBroken) {
          failed.incrementAndGet();
          Eventually.pause(Duration.ofMillis(50));
        }
      }
    }

    void awaitWhole(int more) {
      int enough = whole.get() + more;
      Eventually.within(PATIENCE, more + " more streams", () -> whole.get() >= enough);
      assertThat(wrong).isEmpty();
    }

    @Override
    public void close() {
      stopped = true;
      for (Thread caller : callers) {
        try {
          caller.join();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  /** A container that is expected to end by itself, with whatever exit code. */
  private static final class Ended extends OneShotStartupCheckStrategy {
    @Override
    public StartupStatus checkStartupState(DockerClient client, String containerId) {
      StartupStatus status = super.checkStartupState(client, containerId);
      return status == StartupStatus.FAILED ? StartupStatus.SUCCESSFUL : status;
    }
  }

  private static String config() {
    return """
    listen: 0.0.0.0:8080
    admin: 0.0.0.0:9901
    keys: keys.yaml
    plans:
      pro: {streams: 50, models: ["*"]}
    models:
      small: {upstreams: [{url: "http://upstream:8000"}]}
    shutdown-grace: 1m
    """;
  }

  private GenericContainer<?> sluice() throws IOException {
    GenericContainer<?> sluice = container(config());
    sluice
        .withNetworkAliases("sluice")
        .withExposedPorts(HTTP, ADMIN)
        .waitingFor(Wait.forHttp("/readyz").forPort(ADMIN).withStartupTimeout(START));
    sluice.start();
    return sluice;
  }

  private GenericContainer<?> container(String config) throws IOException {
    Files.setPosixFilePermissions(mounted, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.writeString(mounted.resolve("sluice.yaml"), config);
    Files.writeString(
        mounted.resolve("keys.yaml"),
        """
        subscriptions: {acme: {plan: pro}}
        keys: [{name: acme, sha256: "%s", subscription: acme}]
        """
            .formatted(KEY_HASH));
    GenericContainer<?> container =
        new GenericContainer<>(IMAGE)
            .withNetwork(NETWORK)
            .withFileSystemBind(mounted.toString(), "/etc/sluice", BindMode.READ_ONLY)
            .withCreateContainerCmdModifier(
                command ->
                    Objects.requireNonNull(command.getHostConfig())
                        .withReadonlyRootfs(true)
                        .withCapDrop(Capability.ALL)
                        .withSecurityOpts(List.of("no-new-privileges")));
    containers.add(container);
    return container;
  }

  private static Request chat(boolean stream, int words) {
    return Request.post(
            "/v1/chat/completions",
            String.format(
                Locale.ROOT,
                "{\"model\":\"small\",\"stream\":%b,\"max_tokens\":%d,"
                    + "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}",
                stream,
                words,
                "word ".repeat(words)))
        .key(KEY);
  }

  /** Streams that go on for so many seconds, of which the first event was read. */
  private static List<RawClient> begunStreams(GenericContainer<?> sluice, int count, int seconds) {
    List<RawClient> streams = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      RawClient client =
          RawClient.connect(port(sluice, HTTP)).send(chat(true, seconds * WORDS_A_SECOND));
      assertThat(client.readHead().status()).isEqualTo(200);
      client.readUntil("\n\n");
      streams.add(client);
    }
    return streams;
  }

  private static void assertWhole(RawClient stream) {
    StringBuilder rest = new StringBuilder();
    assertThat(stream.readRest(rest)).isEqualTo(Ending.WHOLE);
    assertThat(rest.toString()).endsWith("data: [DONE]\n\n").doesNotContain("\"error\"");
    stream.close();
  }

  private static Answer exchange(GenericContainer<?> sluice, Request request) {
    try (RawClient client = RawClient.connect(port(sluice, HTTP))) {
      return client.exchange(request);
    }
  }

  private static Answer admin(GenericContainer<?> sluice, String path) {
    return get(sluice, ADMIN, path);
  }

  private static Answer get(GenericContainer<?> container, int port, String path) {
    try (RawClient client = RawClient.connect(port(container, port))) {
      return client.exchange(Request.get(path).header("Connection", "close"));
    }
  }

  /** Waits for an answer of the admin listener; one that cannot be had yet is none. */
  private static void awaitAdmin(
      GenericContainer<?> sluice, String path, Predicate<Answer> condition) {
    Eventually.within(
        PATIENCE,
        path,
        () -> {
          try {
            return condition.test(admin(sluice, path));
          } catch (UncheckedIOException | AssertionError notThere) {
            return false;
          }
        });
  }

  private static List<Map<String, Object>> result(GenericContainer<?> prometheus, String query) {
    return Json.objects(
        Json.object(get(prometheus, 9090, "/api/v1/" + query).json(), "data"), "result");
  }

  /** Where a port of the container is now: after a restart it is another one. */
  private static int port(GenericContainer<?> container, int port) {
    return container
        .getCurrentContainerInfo()
        .getNetworkSettings()
        .getPorts()
        .getBindings()
        .entrySet()
        .stream()
        .filter(entry -> entry.getKey().getPort() == port)
        .map(entry -> Integer.parseInt(entry.getValue()[0].getHostPortSpec()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("port " + port + " is not published"));
  }

  private static void signal(GenericContainer<?> container, String signal) {
    container
        .getDockerClient()
        .killContainerCmd(container.getContainerId())
        .withSignal(signal)
        .exec();
  }

  private static long exitCode(GenericContainer<?> container) {
    Eventually.within(PATIENCE, "the container ends", () -> !container.isRunning());
    InspectContainerResponse.ContainerState state = container.getCurrentContainerInfo().getState();
    return Objects.requireNonNull(state.getExitCodeLong());
  }
}
