package dev.sluice.testing;

import dev.sluice.testing.Answer.Ending;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;

/**
 * One downstream connection, byte by byte. Every wait is bounded by ten seconds and fails the test
 * after. Not safe for threads.
 */
public final class RawClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 10_000;

  private final Socket socket;
  private final ByteSource in;

  /** What of the current answer's body is still to come. */
  private Framing framing = Framing.NONE;

  private long left;

  private enum Framing {
    NONE,
    LENGTH,
    CHUNKED,
    UNTIL_CLOSE
  }

  private RawClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new ByteSource(socket.getInputStream());
  }

  /** Connects to a port of this machine. */
  public static RawClient connect(int port) {
    return connect(port, 0);
  }

  /** Connects with a receive buffer of about that many bytes; 0 for the system's. */
  public static RawClient connect(int port, int receiveBytes) {
    try {
      Socket socket = new Socket();
      if (receiveBytes > 0) {
        socket.setReceiveBufferSize(receiveBytes);
      }
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLIS);
      return new RawClient(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends a request. */
  public RawClient send(Request request) {
    return send(request.wire());
  }

  /** Sends the bytes of a wire string. */
  public RawClient send(String wire) {
    try {
      socket.getOutputStream().write(Wire.bytes(wire));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends bytes to a peer that may close meanwhile. */
  public RawClient sendAsFarAsTaken(String wire) {
    try {
      socket.getOutputStream().write(Wire.bytes(wire));
    } catch (IOException closed) {
      // the peer has answered and closed: what it answered is still to be read
    }
    return this;
  }

  /** Sends every byte in a packet of its own, with a pause before each but the first. */
  public RawClient trickle(String wire, Duration pause) {
    for (int i = 0; i < wire.length(); i++) {
      if (i > 0) {
        Eventually.pause(pause);
      }
      send(wire.substring(i, i + 1));
    }
    return this;
  }

  /** Sends these bytes again and again, with a pause between, until the peer answers or closes. */
  public RawClient sendUntilAnswered(String wire, Duration pause) {
    long deadline = System.nanoTime() + Duration.ofMillis(PATIENCE_MILLIS).toNanos();
    do {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("no answer in " + PATIENCE_MILLIS + " ms");
      }
      sendAsFarAsTaken(wire);
    } while (isSilent(pause));
    return this;
  }

  /** Sends a request and reads its answer. */
  public Answer exchange(Request request) {
    return send(request).read(request.method());
  }

  /** Reads the next answer, to a request that was not HEAD. */
  public Answer read() {
    return read("GET");
  }

  /** Reads the next answer to a request of that method. */
  public Answer read(String method) {
    Answer head = readHead(method);
    StringBuilder body = new StringBuilder();
    Ending ending = readBody(body, Integer.MAX_VALUE);
    return head.withBody(body.toString(), ending);
  }

  /** Reads the head of the next answer and none of its body. */
  public Answer readHead() {
    return readHead("GET");
  }

  private Answer readHead(String method) {
    try {
      String line = in.line();
      if (!line.matches("HTTP/1\\.[01] [1-5][0-9][0-9] [\\x20-\\x7e]*")) {
        throw new AssertionError("not a status line: " + line);
      }
      List<Header> headers = in.headers();
      Answer head =
          new Answer(
              line.substring(0, 8),
              Integer.parseInt(line.substring(9, 12)),
              headers,
              "",
              Ending.WHOLE);
      frame(head, method);
      return head;
    } catch (EOFException e) {
      throw new AssertionError("connection closed before a whole answer head", e);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("no answer in " + PATIENCE_MILLIS + " ms", e);
    } catch (IOException e) {
      throw new AssertionError("connection reset before a whole answer head", e);
    }
  }

  private void frame(Answer head, String method) {
    List<String> lengths = head.headers("content-length");
    List<String> codings = head.headers("transfer-encoding");
    if (lengths.size() + codings.size() > 1) {
      throw new AssertionError("framed twice: " + head);
    }
    left = 0;
    if (head.status() < 200
        || head.status() == 204
        || head.status() == 304
        || method.equals("HEAD")) {
      framing = Framing.NONE;
    } else if (!codings.isEmpty()) {
      if (!codings.get(0).equals("chunked")) {
        throw new AssertionError("transfer-encoding: " + codings);
      }
      framing = Framing.CHUNKED;
    } else if (!lengths.isEmpty()) {
      framing = Framing.LENGTH;
      left = Long.parseLong(lengths.get(0));
    } else {
      framing = Framing.UNTIL_CLOSE;
    }
  }

  /** Reads of the current body until it holds a text, which is the last that is read. */
  public String readUntil(String text) {
    StringBuilder body = new StringBuilder();
    while (body.indexOf(text) < 0) {
      int before = body.length();
      Ending ending = readBody(body, 1);
      if (body.length() == before) {
        throw new AssertionError("body ended " + ending + " before " + text + ": " + body);
      }
    }
    return body.toString();
  }

  /** Reads what is left of the current body into the buffer, and says how it ended. */
  public Ending readRest(StringBuilder body) {
    return readBody(body, Integer.MAX_VALUE);
  }

  /**
   * Reads what is left of the current body without keeping it, and gives the number of its bytes.
   *
   * @throws AssertionError when it does not end that way
   */
  public long skipRest(Ending expected) {
    StringBuilder some = new StringBuilder();
    long bytes = 0;
    Ending ending;
    do {
      some.setLength(0);
      ending = readBody(some, 1 << 20);
      bytes += some.length();
    } while (some.length() == 1 << 20);
    if (ending != expected) {
      throw new AssertionError("body ended " + ending + " after " + bytes + " bytes");
    }
    return bytes;
  }

  /** Adds at least one byte, and more until the bound or the end of the body. */
  private Ending readBody(StringBuilder body, int most) {
    int wanted = most;
    try {
      while (wanted > 0) {
        switch (framing) {
          case NONE -> {
            return Ending.WHOLE;
          }
          case LENGTH -> {
            if (left == 0) {
              framing = Framing.NONE;
              return Ending.WHOLE;
            }
          }
          case CHUNKED -> {
            if (left == 0) {
              left = in.chunkSize();
              if (left == 0) {
                framing = Framing.NONE;
                return Ending.WHOLE;
              }
            }
          }
          case UNTIL_CLOSE -> left = Integer.MAX_VALUE;
        }
        String some = in.some((int) Math.min(left, wanted));
        if (some.isEmpty()) {
          return framing == Framing.UNTIL_CLOSE ? Ending.UNTIL_CLOSE : Ending.BROKEN_OFF;
        }
        body.append(some);
        left -= some.length();
        wanted -= some.length();
        if (framing == Framing.CHUNKED && left == 0 && !in.line().isEmpty()) {
          throw new AssertionError("chunk longer than its size");
        }
      }
      return Ending.WHOLE;
    } catch (SocketTimeoutException e) {
      throw new AssertionError("body stalled after: " + tail(body), e);
    } catch (EOFException | SocketException e) {
      return Ending.BROKEN_OFF;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String tail(StringBuilder body) {
    return body.substring(Math.max(0, body.length() - 200));
  }

  /** Fails unless the peer closes the connection and sends nothing more before. */
  public void assertClosed() {
    try {
      int next = in.read();
      if (next >= 0) {
        throw new AssertionError("more bytes: " + (char) next + in.some(1000));
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("still open", e);
    } catch (IOException reset) {
      // closed too: the peer had bytes of ours that it did not read
    }
  }

  /** Fails if the peer sends anything, or closes, within that time. */
  public void assertSilent(Duration time) {
    if (isSilent(time)) {
      return;
    }
    try {
      throw new AssertionError(in.peek() < 0 ? "closed" : "sent: " + in.some(1000));
    } catch (IOException e) {
      throw new AssertionError("reset", e);
    }
  }

  /** Whether the peer sends nothing, and does not close, within that time. */
  public boolean isSilent(Duration time) {
    try {
      socket.setSoTimeout((int) time.toMillis());
      in.peek();
      return false;
    } catch (SocketTimeoutException silent) {
      return true;
    } catch (IOException reset) {
      return false;
    } finally {
      patient();
    }
  }

  private void patient() {
    try {
      socket.setSoTimeout(PATIENCE_MILLIS);
    } catch (SocketException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the connection with a reset. */
  public void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
