package dev.sluice.admin;

import dev.sluice.page.LiveEvents;
import dev.sluice.page.PageListener;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The listener for operators: {@code /metrics}, {@code /healthz}, {@code /readyz}, {@code /config}
 * by {@code GET} or {@code HEAD}, and the calls that show and change how Sluice runs. At most 64
 * connections at once.
 */
public final class AdminListener {
  private static final int MAX_CONNECTIONS = 64;

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
    return PageListener.open(
        "admin",
        loop,
        channelClass,
        address,
        new AdminRoutes(metrics, readiness, config, calls),
        new LiveEvents(loop, Map.of(), 0),
        PageListener.Bounds.of(MAX_CONNECTIONS));
  }
}
