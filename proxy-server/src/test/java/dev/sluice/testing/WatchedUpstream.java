package dev.sluice.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * An upstream of one thread that says the same to every request, leaves its connections open, and
 * stamps the end of each. Cheap enough to measure by: what it stamps is the proxy's doing.
 */
public final class WatchedUpstream implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** One request, and the end of the connection that it came on. Safe for all threads. */
  public static final class Watched {
    private final SocketChannel channel;
    private final StringBuilder received = new StringBuilder();
    private final CompletableFuture<Long> ended = new CompletableFuture<>();
    private boolean arrived;

    private Watched(SocketChannel channel) {
      this.channel = channel;
    }

    /** When its connection ended, in the time of {@link System#nanoTime}; waits for it. */
    public long awaitEnd() {
      try {
        return ended.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        throw new AssertionError("connection still open after " + PATIENCE, e);
      } catch (InterruptedException | ExecutionException e) {
        throw new AssertionError(e);
      }
    }

    /** Whether its connection is open. */
    public boolean isOpen() {
      return !ended.isDone();
    }
  }

  private final ServerSocketChannel listener;
  private final Selector selector;
  private final Thread thread;
  private final String answer;
  private final String beat;
  private final Duration pause;
  private final BlockingQueue<Watched> arrivals = new LinkedBlockingQueue<>();
  private final Queue<Watched> beaten = new ArrayDeque<>();
  private final ByteBuffer bytes = ByteBuffer.allocateDirect(16 << 10);
  private long nextBeatNanos = System.nanoTime();

  private WatchedUpstream(String answer, String beat, Duration pause) {
    this.answer = answer;
    this.beat = beat;
    this.pause = pause;
    try {
      listener = ServerSocketChannel.open();
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
      listener.configureBlocking(false);
      selector = Selector.open();
      listener.register(selector, SelectionKey.OP_ACCEPT);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    thread = new Thread(this::run, "watched-upstream");
    thread.setDaemon(true);
    thread.start();
  }

  /** Starts one that sends this wire string as soon as a request is whole. */
  public static WatchedUpstream answering(String answer) {
    return new WatchedUpstream(answer, "", Duration.ofDays(1));
  }

  /** Starts one that sends nothing to whatever comes, be it HTTP or the beginning of TLS. */
  public static WatchedUpstream silent() {
    return answering("");
  }

  /** Starts one that answers likewise, and with each pause goes on with the next connection. */
  public static WatchedUpstream beating(String answer, String beat, Duration pause) {
    return new WatchedUpstream(answer, beat, pause);
  }

  /** The port it listens on. */
  public int port() {
    return listener.socket().getLocalPort();
  }

  /** The next request that has come and was not taken yet; waits for it. */
  public Watched take() {
    try {
      Watched next = arrivals.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      if (next == null) {
        throw new AssertionError("no request reached the upstream");
      }
      return next;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void run() {
    try {
      while (selector.isOpen()) {
        long wait = TimeUnit.NANOSECONDS.toMillis(nextBeatNanos - System.nanoTime());
        selector.select(beat.isEmpty() ? 0 : Math.max(1, wait));
        if (!selector.isOpen()) {
          return;
        }
        for (SelectionKey key : selector.selectedKeys()) {
          if (key.isAcceptable()) {
            accept();
          } else {
            read((Watched) key.attachment());
          }
        }
        selector.selectedKeys().clear();
        beat();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void accept() throws IOException {
    SocketChannel channel = listener.accept();
    if (channel != null) {
      channel.configureBlocking(false);
      channel.socket().setTcpNoDelay(true);
      channel.register(selector, SelectionKey.OP_READ, new Watched(channel));
    }
  }

  private void read(Watched watched) throws IOException {
    int count;
    try {
      count = watched.channel.read(bytes.clear());
    } catch (IOException reset) {
      count = -1;
    }
    long now = System.nanoTime();
    if (count < 0) {
      watched.channel.close();
      watched.ended.complete(now);
      return;
    }
    bytes.flip();
    while (bytes.hasRemaining()) {
      watched.received.append((char) (bytes.get() & 0xff));
    }
    if (!watched.arrived && (answer.isEmpty() || isWhole(watched.received))) {
      watched.arrived = true;
      send(watched, answer);
      beaten.add(watched);
      arrivals.add(watched);
    }
  }

  private static boolean isWhole(StringBuilder request) {
    int head = request.indexOf("\r\n\r\n");
    if (head < 0) {
      return false;
    }
    String lower = request.substring(0, head).toLowerCase(Locale.ROOT) + "\r\n";
    String name = "\r\ncontent-length:";
    int length = lower.indexOf(name) + name.length();
    String value = lower.substring(length, lower.indexOf("\r\n", length)).strip();
    return request.length() >= head + 4 + Integer.parseInt(value);
  }

  private void beat() {
    if (beat.isEmpty() || System.nanoTime() - nextBeatNanos < 0) {
      return;
    }
    nextBeatNanos = System.nanoTime() + pause.toNanos();
    Watched next = beaten.poll();
    if (next != null && next.isOpen()) {
      send(next, beat);
      beaten.add(next);
    }
  }

  private static void send(Watched watched, String wire) {
    try {
      watched.channel.write(ByteBuffer.wrap(Wire.bytes(wire)));
    } catch (IOException gone) {
      // the next read says so, and when
    }
  }

  @Override
  public void close() {
    try {
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
      selector.close();
      thread.join();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
