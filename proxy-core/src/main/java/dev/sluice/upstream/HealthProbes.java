package dev.sluice.upstream;

import dev.sluice.cluster.Catalog;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Probe;
import dev.sluice.timer.LoopTimer;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;

/**
 * Asks the endpoints of each model that has a {@link Probe} whether they are well, all on one event
 * loop, and tells their clusters. May be called by any thread.
 */
public final class HealthProbes {
  private final EventLoop loop;
  private final LoopTimer timer;
  private final ConnectionPool pool;

  /** Event loop only. */
  private final List<EndpointProbe> running = new ArrayList<>();

  /**
   * No probes yet.
   *
   * @param loop what they run on
   * @param timer the loop's deadlines
   * @param pool the loop's connections; probes have new ones, which do not stay there
   */
  public HealthProbes(EventLoop loop, LoopTimer timer, ConnectionPool pool) {
    this.loop = loop;
    this.timer = timer;
    this.pool = pool;
  }

  /**
   * Probes what this catalog says from now on, at once for the first time, and nothing else. An
   * endpoint that is probed no longer is taken as well.
   */
  public void follow(Catalog catalog) {
    loop.execute(
        () -> {
          cancelAll();
          for (Cluster cluster : catalog.clusters()) {
            for (LiveEndpoint endpoint : cluster.endpoints()) {
              follow(cluster, endpoint);
            }
          }
        });
  }

  private void follow(Cluster cluster, LiveEndpoint endpoint) {
    Probe probe = cluster.model().probe();
    if (probe == null) {
      cluster.notProbed(endpoint);
      return;
    }
    EndpointProbe started = new EndpointProbe(timer, pool, cluster, endpoint, probe);
    running.add(started);
    started.start();
  }

  /** Ends all probes. */
  public void stop() {
    loop.execute(this::cancelAll);
  }

  private void cancelAll() {
    running.forEach(EndpointProbe::cancel);
    running.clear();
  }
}
