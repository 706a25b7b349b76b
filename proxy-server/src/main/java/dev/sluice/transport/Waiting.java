package dev.sluice.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits, on threads that start and end the process, for what event loops do. Not for loops. */
public final class Waiting {
  private static final int MOST_SECONDS = 10;

  private Waiting() {}

  /**
   * The channel of a bind, once it is bound.
   *
   * @param name what listens there, as in {@code listen}
   * @throws IOException when it cannot be bound; the message names the address
   */
  public static Channel bound(ChannelFuture binding, String name, InetSocketAddress address)
      throws IOException {
    try {
      done(binding);
      return binding.channel();
    } catch (IOException e) {
      throw new IOException(
          name
              + ": "
              + address.getHostString()
              + ":"
              + address.getPort()
              + " (expected: an address that can be bound): "
              + e.getMessage(),
          e);
    }
  }

  /**
   * Waits until it is done, ten seconds at most.
   *
   * @throws IOException when it failed, or was not done in time
   */
  public static void done(Future<?> future) throws IOException {
    try {
      future.get(MOST_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable cause = future.cause();
      throw new IOException(cause == null ? e.getMessage() : cause.getMessage(), e);
    } catch (TimeoutException e) {
      throw new IOException("not done within " + MOST_SECONDS + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
