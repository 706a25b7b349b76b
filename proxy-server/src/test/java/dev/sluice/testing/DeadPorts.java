package dev.sluice.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/** Two ports of this machine that cannot be connected to: one refuses, one never answers. */
public final class DeadPorts implements AutoCloseable {
  private final Socket bound = new Socket();
  private final ServerSocket full;
  private final List<Socket> queued = new ArrayList<>();

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

  /** Connects until the queue of connections that nobody accepts is full. */
  private void fill() throws IOException {
    while (true) {
      Socket socket = new Socket();
      queued.add(socket);
      try {
        socket.connect(full.getLocalSocketAddress(), 200);
      } catch (SocketTimeoutException isFull) {
        return;
      }
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
      for (Socket socket : queued) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
