package dev.sluice.upstream;

import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.nio.channels.NotYetConnectedException;

/** Tells a connection that broke from a fault of Sluice. */
public final class ConnectionLoss {
  private ConnectionLoss() {}

  /** Whether this is how the loss of a connection, downstream or upstream, shows itself. */
  public static boolean is(Throwable cause) {
    return cause instanceof IOException
        || cause instanceof DecoderException // TLS that went wrong
        // A read after a write that took the socket's error: epoll then finds it not connected.
        || cause instanceof NotYetConnectedException;
  }
}
