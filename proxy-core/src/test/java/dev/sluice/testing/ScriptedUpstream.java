package dev.sluice.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** An upstream with a real socket that does what the test says, step by step. Blocks for 10 s. */
public final class ScriptedUpstream implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 10_000;

  private final ServerSocket listening;
  private final List<Peer> peers = new ArrayList<>();

  /** Listens on this socket, on a port of its own. */
  public ScriptedUpstream(ServerSocket listening) throws IOException {
    this.listening = listening;
    listening.setSoTimeout(PATIENCE_MILLIS);
  }

  /** Listens without TLS. */
  public static ScriptedUpstream plain() throws IOException {
    return new ScriptedUpstream(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
  }

  /** The port that it listens on. */
  public int port() {
    return listening.getLocalPort();
  }

  /** The next connection. */
  public Peer accept() throws IOException {
    Socket socket = listening.accept();
    socket.setSoTimeout(PATIENCE_MILLIS);
    Peer peer = new Peer(socket);
    peers.add(peer);
    return peer;
  }

  @Override
  public void close() throws IOException {
    for (Peer peer : peers) {
      peer.close();
    }
    listening.close();
  }

  /** One connection. */
  public static final class Peer {
    private final Socket socket;

    Peer(Socket socket) {
      this.socket = socket;
    }

    /** Reads to the end of this text, and returns everything up to there. */
    public String readTo(String end) throws IOException {
      ByteArrayOutputStream read = new ByteArrayOutputStream();
      while (!read.toString(StandardCharsets.ISO_8859_1).endsWith(end)) {
        int next = socket.getInputStream().read();
        if (next < 0) {
          throw new AssertionError("end after: " + read.toString(StandardCharsets.ISO_8859_1));
        }
        read.write(next);
      }
      return read.toString(StandardCharsets.ISO_8859_1);
    }

    /** Whether the other side has closed; waits for it. What still comes is dropped. */
    public boolean seesClose() throws IOException {
      byte[] dropped = new byte[1 << 16];
      try {
        int read;
        do {
          read = socket.getInputStream().read(dropped);
        } while (read >= 0);
      } catch (SocketException e) {
        // A reset, where bytes of ours were not read: closed, too.
      }
      return true;
    }

    /** Sends these bytes. */
    public void send(String bytes) throws IOException {
      socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
      socket.getOutputStream().flush();
    }

    /** Closes as it should be done. */
    public void close() throws IOException {
      socket.close();
    }

    /** Closes with a reset. */
    public void reset() throws IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }
  }
}
