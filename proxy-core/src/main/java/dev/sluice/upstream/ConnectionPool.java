package dev.sluice.upstream;

import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.timer.Deadline;
import dev.sluice.timer.LoopTimer;
import io.netty.channel.EventLoop;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop to all endpoints. They are opened on the loop of the downstream
 * connection that needs them, so that an exchange never changes threads. Event loop only.
 */
public final class ConnectionPool {
  /** Idle connections are closed after this long; most upstreams wait longer before they do. */
  static final long MAX_IDLE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(2);

  private record Key(String modelId, Endpoint endpoint) {}

  private final EventLoop loop;
  private final LoopTimer timer;
  private final UpstreamTransport transport;
  private final Function<String, ConnectionCounts> counts;
  private final LoopFlush flush;
  private final Map<Key, EndpointPool> pools = new HashMap<>();
  private final Deadline sweep;

  /** Null while whatever is asked for is kept. */
  private @Nullable Set<Key> retained;

  /**
   * An empty pool.
   *
   * @param counts gives, for a model's id, its counts, shared by all loops
   */
  public ConnectionPool(
      EventLoop loop,
      LoopTimer timer,
      UpstreamTransport transport,
      Function<String, ConnectionCounts> counts) {
    this.loop = loop;
    this.timer = timer;
    this.transport = transport;
    this.counts = counts;
    this.flush = new LoopFlush(loop);
    this.sweep =
        new Deadline(timer) {
          @Override
          protected void expired() {
            closeIdleSince(timer.nowNanos() - MAX_IDLE_NANOS);
            arm(SWEEP_NANOS);
          }
        };
  }

  /**
   * Gives an attempt a connection: an idle one, or a new one. The handler hears {@link
   * AnswerHandler#connected} when the request can be sent, which may be before this returns.
   *
   * @param fresh whether an idle one will not do
   * @return the connection; what became of it meanwhile, the handler has heard
   */
  public UpstreamConnection acquire(
      Model model, Endpoint endpoint, boolean fresh, AnswerHandler handler) {
    assert loop.inEventLoop();
    if (pools.isEmpty()) {
      sweep.arm(SWEEP_NANOS);
    }
    EndpointPool pool =
        pools.computeIfAbsent(
            new Key(model.id(), endpoint),
            key -> {
              EndpointPool made = new EndpointPool(this, endpoint, counts.apply(model.id()));
              made.keepIdle(retained == null || retained.contains(key));
              return made;
            });
    return pool.acquire(handler, fresh);
  }

  /**
   * Keeps idle connections to the endpoints of these models alone: others are closed now, those at
   * work, and those that exchanges of an earlier configuration still open, when they have ended.
   */
  public void retain(Collection<Model> models) {
    assert loop.inEventLoop();
    Set<Key> keys = new HashSet<>();
    for (Model model : models) {
      model.endpoints().forEach(endpoint -> keys.add(new Key(model.id(), endpoint)));
    }
    retained = keys;
    pools.forEach((key, pool) -> pool.keepIdle(keys.contains(key)));
    pools.keySet().retainAll(keys);
  }

  /** Closes every idle connection. */
  public void closeIdle() {
    closeIdleSince(timer.nowNanos());
  }

  private void closeIdleSince(long nanos) {
    pools.values().forEach(pool -> pool.closeIdleSince(nanos));
  }

  /** What sends at the end of the loop's turn; downstream connections use it, too. */
  public LoopFlush flush() {
    return flush;
  }

  EventLoop loop() {
    return loop;
  }

  LoopTimer timer() {
    return timer;
  }

  UpstreamTransport transport() {
    return transport;
  }
}
