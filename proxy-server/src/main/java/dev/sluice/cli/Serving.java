package dev.sluice.cli;

import dev.sluice.access.KeyHash;
import dev.sluice.demo.DemoBanner;
import dev.sluice.demo.DemoUpstream;
import dev.sluice.lifecycle.ConfigFiles;
import dev.sluice.lifecycle.GoodFiles;
import dev.sluice.lifecycle.HangUp;
import dev.sluice.lifecycle.RunningSluice;
import dev.sluice.transport.Transport;
import dev.sluice.yaml.Reading;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** Serves until the process is told to end; then it drains, and the exit code is 0. */
final class Serving implements Start {
  private static final Duration DEMO_WORD_INTERVAL = Duration.ofMillis(100);

  private final String version;
  private final HangUp hangUp = new HangUp();

  Serving(String version) {
    this.version = version;
  }

  @Override
  public void prepare() {
    hangUp.install();
  }

  @Override
  public int serve(ConfigFiles files, GoodFiles started) throws Exception {
    return untilTold(RunningSluice.start(files, started, hangUp, version)::stop);
  }

  @Override
  public int demo(int port, int adminPort, PrintWriter out) throws Exception {
    Transport transport = Transport.best();
    EventLoopGroup loop = transport.loops(1, "demo-upstream");
    DemoUpstream upstream = DemoUpstream.start(loop, transport.listening(), DEMO_WORD_INTERVAL);
    Path directory = Files.createTempDirectory("sluice-demo-");
    String freeKey = KeyNewCommand.newKey();
    String proKey = KeyNewCommand.newKey();
    Files.writeString(directory.resolve("keys.yaml"), demoKeys(freeKey, proKey));
    Path file =
        Files.writeString(
            directory.resolve("sluice.yaml"), demoConfig(port, adminPort, upstream.port()));
    ConfigFiles files =
        new ConfigFiles(file, Map.of(), Instant.now().truncatedTo(ChronoUnit.SECONDS));
    if (!(files.read() instanceof Reading.Good<GoodFiles> good)) {
      throw new IllegalStateException("demo: its own configuration is faulty: " + files.read());
    }
    RunningSluice running;
    try {
      running = RunningSluice.start(files, good.value(), hangUp, version);
    } catch (IOException | RuntimeException e) {
      delete(directory);
      throw e;
    }
    out.println(
        DemoBanner.text(
            running.address().getPort(), running.adminAddress().getPort(), freeKey, proKey));
    out.println("Its configuration: " + file);
    out.flush();
    return untilTold(
        () -> {
          running.stop();
          upstream.close();
          delete(directory);
        });
  }

  @Override
  public int demoUpstream(int port, PrintWriter out) throws Exception {
    Transport transport = Transport.best();
    DemoUpstream upstream =
        DemoUpstream.start(
            transport.loops(1, "demo-upstream"),
            transport.listening(),
            new InetSocketAddress(port),
            DEMO_WORD_INTERVAL);
    out.println("The demo upstream listens on port " + upstream.port() + ".");
    out.flush();
    return untilTold(upstream::close);
  }

  private static String demoConfig(int port, int adminPort, int upstreamPort) {
    return String.format(
        Locale.ROOT,
        """
        listen: 127.0.0.1:%d
        admin: 127.0.0.1:%d
        access-log: none
        keys: keys.yaml
        plans:
          free: {streams: 2, models: [small]}
          pro:  {streams: 100, streams-per-key: 10, models: ["*"]}
        models:
          small: {upstreams: [{url: "http://127.0.0.1:%d"}], owned-by: demo}
          big:   {upstreams: [{url: "http://127.0.0.1:%d"}], owned-by: demo}
        shutdown-grace: 5s
        """,
        port,
        adminPort,
        upstreamPort,
        upstreamPort);
  }

  private static String demoKeys(String freeKey, String proKey) {
    return String.format(
        Locale.ROOT,
        """
        subscriptions:
          free-demo: {plan: free, active: true}
          pro-demo:  {plan: pro, active: true}
        keys:
          - {name: free-demo, sha256: "%s", subscription: free-demo}
          - {name: pro-demo, sha256: "%s", subscription: pro-demo}
        """,
        hash(freeKey),
        hash(proKey));
  }

  private static String hash(String key) {
    return KeyHash.of(key.getBytes(StandardCharsets.US_ASCII)).toHex();
  }

  private static void delete(Path directory) {
    try {
      Files.deleteIfExists(directory.resolve("keys.yaml"));
      Files.deleteIfExists(directory.resolve("sluice.yaml"));
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      directory.toFile().deleteOnExit();
    }
  }

  /** Never returns: the process ends from its shutdown hook. */
  private static int untilTold(Runnable stop) throws InterruptedException {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  stop.run();
                  // The JVM would end with 128 + the signal's number; this was an orderly end.
                  Runtime.getRuntime().halt(0);
                },
                "sluice-shutdown"));
    new CountDownLatch(1).await();
    return 0;
  }
}
