package dev.sluice.status;

import dev.sluice.page.LiveEvents;
import dev.sluice.page.PageListener;
import dev.sluice.telemetry.Meters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listener of the status page. Looks at all models once a second, whether somebody asks or not.
 * At most 512 connections at once, 256 of which may listen to events.
 */
public final class StatusListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StatusListener.class);

  private static final int MAX_CONNECTIONS = 512;
  private static final int MAX_LISTENERS = 256;

  private final PageListener listener;
  private final Future<?> looking;

  private StatusListener(PageListener listener, Future<?> looking) {
    this.listener = listener;
    this.looking = looking;
  }

  /**
   * Binds the address and answers from then on. Waits until it is bound.
   *
   * @param loop where requests are answered; one of its own: whoever may flood it
   * @param channelClass the kind of server channel that the loop drives
   * @param address where to listen; port 0 for any
   * @param clock what the day is measured by, and expiry of keys
   * @param nanoTime what the rest of who tries keys is measured by, as {@link System#nanoTime()}
   * @throws IOException when the address cannot be bound; the message names it
   */
  public static StatusListener open(
      EventLoop loop,
      Class<? extends ServerChannel> channelClass,
      InetSocketAddress address,
      StatusSource source,
      InstantSource clock,
      LongSupplier nanoTime,
      MeterRegistry registry)
      throws IOException {
    Board board = new Board(source, clock);
    Map<KeyCheck.Result, Counter> counters = new EnumMap<>(KeyCheck.Result.class);
    for (KeyCheck.Result result : KeyCheck.Result.values()) {
      String label = result.name().toLowerCase(Locale.ROOT);
      counters.put(result, Meters.STATUS_KEY_CHECKS.counter(registry, label));
    }
    KeyCheck keys =
        new KeyCheck(
            source,
            new KeyAttempts(nanoTime),
            clock,
            loop,
            result -> Objects.requireNonNull(counters.get(result)).increment());
    PageListener listener =
        PageListener.open(
            "status",
            loop,
            channelClass,
            address,
            new StatusRoutes(board::json, keys),
            new LiveEvents(
                loop,
                Map.of("status", () -> CompletableFuture.completedFuture(board.json())),
                MAX_LISTENERS),
            PageListener.Bounds.of(MAX_CONNECTIONS));
    Future<?> looking = loop.scheduleAtFixedRate(() -> look(board), 0, 1, TimeUnit.SECONDS);
    return new StatusListener(listener, looking);
  }

  /** A task that throws is never run again. */
  private static void look(Board board) {
    try {
      board.see();
    } catch (RuntimeException e) {
      LOG.error("status: the models were not looked at", e);
    }
  }

  /** The address that was bound, with the port that port 0 became. */
  public InetSocketAddress address() {
    return listener.address();
  }

  /** Stops listening and closes every connection. Waits until that is done. */
  @Override
  public void close() {
    looking.cancel(false);
    listener.close();
  }
}
