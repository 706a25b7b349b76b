package dev.sluice.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.sluice.access.KeyCache;
import dev.sluice.cluster.Catalog;
import dev.sluice.exchange.LoopContext;
import dev.sluice.exchange.MemoryBudget;
import dev.sluice.exchange.RouteTable;
import dev.sluice.exchange.Snapshot;
import dev.sluice.http.HttpLimits;
import dev.sluice.slots.StreamSlots;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionCounts;
import dev.sluice.upstream.ConnectionPool;
import dev.sluice.upstream.UpstreamTransport;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the documents say of the way of a request is what the pipeline does. */
final class LifeOfARequestTest {
  private static final Pattern STEP = Pattern.compile("(?m)^[0-9]+\\. `([a-z-]+)`");
  private static final Pattern PICTURED = Pattern.compile("(?m)^  ([a-z]+(?:-[a-z]+)*)(?:  .*)?$");
  private static final MemoryBudget BUDGET = new MemoryBudget(1);

  @Test
  void theStepsInTheArchitectureAreThoseOfThePipelineInTheirOrder() throws IOException {
    String life = section("../ARCHITECTURE.md", "\n## Life of a request\n", "\n## ");

    assertThat(names(STEP, life)).isEqualTo(steps());
  }

  @Test
  void thePictureInTheReadmeShowsTheStepsOfThePipelineInTheirOrder() throws IOException {
    String way = section("../README.md", "\n## The way of a request\n", "\n## ");

    assertThat(names(PICTURED, way)).isEqualTo(steps());
  }

  private static String section(String file, String from, String to) throws IOException {
    String text = Files.readString(Path.of(file));
    assertThat(text).containsOnlyOnce(from);
    int start = text.indexOf(from) + from.length();
    return text.substring(start, text.indexOf(to, start));
  }

  private static List<String> names(Pattern pattern, String text) {
    return pattern.matcher(text).results().map((MatchResult found) -> found.group(1)).toList();
  }

  private static List<String> steps() {
    EdgeState state =
        new EdgeState(
            new Snapshot(
                HttpLimits.DEFAULT,
                Map.of(),
                new Catalog(List.of()),
                new RouteTable(List.of()),
                Duration.ZERO,
                0),
            () -> 0);
    KeyCache keys =
        new KeyCache(
            hash -> CompletableFuture.completedFuture(Optional.empty()), Ticker.systemTicker());
    Rules rules = new Rules(state, BUDGET, keys, InstantSource.system(), new StreamSlots());
    EmbeddedChannel channel =
        new EmbeddedChannel(new EdgePipeline(state, rules, LifeOfARequestTest::context));
    List<String> steps = new ArrayList<>(channel.pipeline().toMap().keySet());
    channel.finishAndReleaseAll();
    // What is no handler and no rule: a part of the decoder, and the connection's way out.
    steps.add(steps.indexOf("request-decoder") + 1, "framing-guard");
    steps.addAll(rules.inOrder().keySet());
    steps.add("fault");
    return steps;
  }

  private static LoopContext context(Channel channel) {
    LoopTimer timer = new LoopTimer(channel.eventLoop(), () -> 0);
    UpstreamTransport transport =
        new UpstreamTransport(
            EmbeddedChannel::new,
            DefaultAddressResolverGroup.INSTANCE,
            () -> {
              throw new AssertionError("no upstream is asked for");
            });
    ConnectionPool pool =
        new ConnectionPool(channel.eventLoop(), timer, transport, model -> new ConnectionCounts());
    return new LoopContext(channel.eventLoop(), timer, pool, BUDGET, Runnable::run, summary -> {});
  }
}
