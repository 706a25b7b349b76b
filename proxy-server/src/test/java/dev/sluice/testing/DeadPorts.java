package dev.sluice.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** Two ports of this machine that cannot be connected to: one refuses, one never answers. */
public final class DeadPorts implements AutoCloseable {
  private final Socket bound = new Socket();
  private final ServerSocket full;
  private final List<SocketChannel> queued = new ArrayList<>();

  /** Takes both ports. */
  public DeadPorts() {
    try {
      bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      fill();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Fills the queue of connections that nobody accepts. Those past its room go on trying, so that
   * no place in it is ever free, however late the first of them comes about.
   */
  private void fill() throws IOException {
    for (int i = 0; i < 8; i++) {
      SocketChannel connecting = SocketChannel.open();
      queued.add(connecting);
      connecting.configureBlocking(false);
      connecting.connect(full.getLocalSocketAddress());
    }
  }

  /** A port that refuses every connection. */
  public int refusing() {
    return bound.getLocalPort();
  }

  /** A port on which a connection never comes about. */
  public int silent() {
    return full.getLocalPort();
  }

  @Override
  public void close() {
    try {
      bound.close();
      full.close();
      for (SocketChannel connecting : queued) {
        connecting.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
