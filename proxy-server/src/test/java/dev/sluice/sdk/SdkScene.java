package dev.sluice.sdk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.anthropic.client.AnthropicClient;
import com.openai.client.OpenAIClient;
import dev.sluice.access.KeyHash;
import dev.sluice.demo.DemoUpstream;
import dev.sluice.testing.DeadPorts;
import dev.sluice.testing.ScriptedUpstream;
import dev.sluice.testing.SluiceProcess;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One Sluice process in front of two upstreams: the demo upstream, which behaves, serves the models
 * {@code small}, {@code big} and {@code openai/gpt-oss-120b}; a scripted one, which does what a
 * test says, serves {@code scripted}; nobody serves {@code nowhere}.
 */
final class SdkScene implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  /** On a plan with every model and as many streams as a test may want. */
  static final String PRO = "sk-sdk-pro";

  /** On a plan with the models {@code small} and {@code scripted}, and 1 stream. */
  static final String FREE = "sk-sdk-free";

  static final String REVOKED = "sk-sdk-revoked";
  static final String INACTIVE = "sk-sdk-inactive";

  static final int MAX_BODY_BYTES = 1 << 20;

  final ScriptedUpstream scripted = ScriptedUpstream.start();
  private final DeadPorts dead = new DeadPorts();
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final DemoUpstream demo =
      DemoUpstream.start(group, NioServerSocketChannel.class, Duration.ofMillis(5));
  private final List<Runnable> closings = new ArrayList<>();
  private @Nullable SluiceProcess process;

  @Override
  public void beforeAll(ExtensionContext context) {
    process =
        SluiceProcess.start(
            """
            listen: 127.0.0.1:0
            admin: 127.0.0.1:0
            access-log: none
            limits:
              max-body-bytes: 1MiB
            keys: keys.yaml
            plans:
              free: {streams: 1, models: [small, scripted]}
              pro: {streams: 100, models: ["*"]}
            models:
              small: {upstreams: [{url: "http://127.0.0.1:%1$d"}]}
              big: {upstreams: [{url: "http://127.0.0.1:%1$d"}], owned-by: acme}
              openai/gpt-oss-120b: {upstreams: [{url: "http://127.0.0.1:%1$d"}]}
              scripted: {upstreams: [{url: "http://127.0.0.1:%2$d"}]}
              nowhere: {upstreams: [{url: "http://127.0.0.1:%3$d"}]}
            """
                .formatted(demo.port(), scripted.port(), dead.refusing()),
            """
            subscriptions:
              acme: {plan: pro, active: true}
              hobby: {plan: free, active: true}
              lapsed: {plan: pro, active: false}
            keys:
              - {name: pro, sha256: "%s", subscription: acme}
              - {name: free, sha256: "%s", subscription: hobby}
              - {name: revoked, sha256: "%s", subscription: acme, revoked: true}
              - {name: inactive, sha256: "%s", subscription: lapsed}
            """
                .formatted(hash(PRO), hash(FREE), hash(REVOKED), hash(INACTIVE)),
            Map.of(),
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    scripted.answers();
  }

  /** Ends everything, and holds that no stream kept its slot. */
  @Override
  public void afterAll(ExtensionContext context) throws InterruptedException {
    closings.forEach(Runnable::run);
    try (SluiceProcess sluice = Objects.requireNonNull(process)) {
      sluice.awaitMetrics(
          "every slot is free",
          metrics ->
              metrics.has("sluice_stream_slots_in_use", "plan=\"pro\"")
                  && metrics.sum("sluice_stream_slots_in_use") == 0);
      scripted.assertNoFaults();
    } finally {
      scripted.close();
      dead.close();
      demo.close();
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      assertThat(group.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** Where Sluice is reached. */
  URI base() {
    return URI.create("http://127.0.0.1:" + Objects.requireNonNull(process).port());
  }

  OpenAIClient openAi(String key) {
    OpenAIClient client = SdkClients.openAi(base(), key);
    closings.add(client::close);
    return client;
  }

  AnthropicClient anthropic(String key) {
    AnthropicClient client = SdkClients.anthropic(base(), key);
    closings.add(client::close);
    return client;
  }

  private static String hash(String key) {
    return KeyHash.of(key.getBytes(UTF_8)).toHex();
  }
}
