package dev.sluice.admin;

import dev.sluice.telemetry.Meters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyEventExecutorMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.Supplier;

/** The registry of all meters of the process, and their exposition. Safe for all threads. */
public final class Metrics implements AutoCloseable {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JvmGcMetrics gc = new JvmGcMetrics();

  /**
   * A registry that holds the meters of the JVM, the process, the build and its readiness.
   *
   * @param version the version of Sluice
   * @param allocator where buffers come from; metered where it keeps counts
   * @param readiness read at each scrape
   */
  public Metrics(String version, ByteBufAllocator allocator, Supplier<Readiness> readiness) {
    new JvmMemoryMetrics().bindTo(registry);
    gc.bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    if (allocator instanceof ByteBufAllocatorMetricProvider counted) {
      new NettyAllocatorMetrics(counted).bindTo(registry);
    }
    Meters.BUILD_INFO.gauge(registry, () -> 1, version, Runtime.version().toString());
    Meters.READY.gauge(registry, () -> readiness.get() == Readiness.READY ? 1 : 0);
  }

  /** Where further meters are registered. */
  public MeterRegistry registry() {
    return registry;
  }

  /**
   * Takes meters away and registers others, as one step for whoever scrapes: half of it would be a
   * meter that is there twice, and no exposition.
   */
  public void change(Runnable meters) {
    synchronized (registry) {
      meters.run();
    }
  }

  /**
   * Registers the number of tasks that wait for each loop of the group. Starts the loops' threads;
   * not to be called from one of them.
   */
  public void bindLoops(EventLoopGroup group) {
    new NettyEventExecutorMetrics(group).bindTo(registry);
  }

  /**
   * Writes all meters in a Prometheus text form. Takes some milliseconds: not for a loop that
   * carries exchanges.
   *
   * @param contentType {@link AdminRoutes#PROMETHEUS_TEXT} or {@link AdminRoutes#OPEN_METRICS}
   */
  void scrape(OutputStream out, String contentType) throws IOException {
    synchronized (registry) {
      registry.scrape(out, contentType);
    }
  }

  /** Stops listening to garbage collections and closes the registry. */
  @Override
  public void close() {
    gc.close();
    registry.close();
  }
}
