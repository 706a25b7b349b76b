package dev.sluice.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One request on an upstream's connection, while a {@link Script} answers it. */
public final class Conversation {
  private final Socket socket;
  private final ByteSource in;
  private final Recorded request;
  private boolean bodyRead;

  Conversation(Socket socket, ByteSource in, Recorded request) {
    this.socket = socket;
    this.in = in;
    this.request = request;
  }

  /** The request. */
  public Recorded request() {
    return request;
  }

  /** Sends the bytes of a wire string; fails when the proxy is gone. */
  public void write(String wire) throws IOException {
    socket.getOutputStream().write(Wire.bytes(wire));
  }

  /** Waits that long, and fails when the proxy goes meanwhile. */
  public void pause(Duration time) throws IOException {
    try {
      socket.setSoTimeout((int) Math.max(1, time.toMillis()));
      if (in.peek() < 0) {
        throw new IOException("the proxy is gone");
      }
      throw new AssertionError("bytes after the request: " + in.some(1000));
    } catch (SocketTimeoutException stillThere) {
      socket.setSoTimeout(0);
    }
  }

  /** Waits until the test says so; fails where it does not within a minute. */
  public void await(CountDownLatch said) {
    try {
      if (!said.await(1, TimeUnit.MINUTES)) {
        throw new AssertionError("the test did not say that the answer goes on");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits until the proxy is gone. */
  public void stall() {
    try {
      while (in.read() >= 0) {
        // nothing is expected
      }
    } catch (IOException reset) {
      // gone as well
    }
    request.markGone();
  }

  /** Ends the connection. */
  public void close() throws IOException {
    socket.close();
  }

  /** Ends the connection with a reset. */
  public void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  /** Reads what is left of the request, and waits for the next one; false where none comes. */
  boolean awaitNext() throws IOException {
    if (socket.isClosed()) {
      return false;
    }
    readBody();
    return in.peek() >= 0;
  }

  void readBody() throws IOException {
    if (bodyRead) {
      return;
    }
    bodyRead = true;
    List<String> lengths = request.headers("content-length");
    List<String> codings = request.headers("transfer-encoding");
    if (lengths.size() + codings.size() > 1) {
      throw new UncheckedIOException(new IOException("framed twice: " + request.headers()));
    }
    StringBuilder body = new StringBuilder();
    if (!lengths.isEmpty()) {
      body.append(in.exactly(Integer.parseInt(lengths.get(0))));
    } else if (!codings.isEmpty()) {
      for (int size = in.chunkSize(); size > 0; size = in.chunkSize()) {
        body.append(in.exactly(size));
        in.line();
      }
    }
    request.hasBody(body.toString());
  }
}
