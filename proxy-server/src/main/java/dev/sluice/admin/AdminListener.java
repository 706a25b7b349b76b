package dev.sluice.admin;

import dev.sluice.page.LiveEvents;
import dev.sluice.page.PageListener;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The listener for operators: their page, {@code /metrics}, {@code /healthz}, {@code /readyz},
 * {@code /config} by {@code GET} or {@code HEAD}, and the calls that show and change how Sluice
 * runs. At most 64 connections at once, 16 of which may listen to events.
 */
public final class AdminListener {
  private static final int MAX_CONNECTIONS = 64;
  private static final int MAX_LISTENERS = 16;

  private AdminListener() {}

  /**
   * Binds the address and answers from then on. Waits until it is bound.
   *
   * @param loop where requests are answered; a scrape takes milliseconds, so one of its own, none
   *     that carries exchanges
   * @param channelClass the kind of server channel that the loop drives
   * @param address where to listen; port 0 for any
   * @param metrics what {@code /metrics} tells
   * @param readiness what {@code /readyz} tells; read on the loop, must not block
   * @param config what {@code /config} tells, as JSON; read on the loop, must not block
   * @param operations what else operators can see and change
   * @param token what operators must send to change something; null where only this machine's may
   * @throws IOException when the address cannot be bound; the message names it
   */
  public static PageListener open(
      EventLoop loop,
      Class<? extends ServerChannel> channelClass,
      InetSocketAddress address,
      Metrics metrics,
      Supplier<Readiness> readiness,
      Supplier<String> config,
      Operations operations,
      Supplier<@Nullable String> token)
      throws IOException {
    Calls calls = new Calls(operations, new AccessRule(token));
    Parts parts = new Parts(operations);
    return PageListener.open(
        "admin",
        loop,
        channelClass,
        address,
        new AdminRoutes(metrics, readiness, config, parts, calls),
        new LiveEvents(loop, live(parts, config), MAX_LISTENERS),
        PageListener.Bounds.of(MAX_CONNECTIONS));
  }

  /** What the operator's page shows, by the names of the events and of the paths. */
  private static Map<String, Supplier<CompletionStage<String>>> live(
      Parts parts, Supplier<String> config) {
    Map<String, Supplier<CompletionStage<String>>> live = new LinkedHashMap<>();
    live.put("problems", now(parts::problems));
    live.put("overview", now(parts::overview));
    live.put("endpoints", now(parts::endpoints));
    live.put("maintenance", now(parts::maintenance));
    live.put("drain", now(parts::drain));
    live.put("exchanges", parts::exchanges);
    live.put("reloads", now(parts::reloads));
    live.put("config", now(config));
    return live;
  }

  private static Supplier<CompletionStage<String>> now(Supplier<String> json) {
    return () -> CompletableFuture.completedFuture(json.get());
  }
}
