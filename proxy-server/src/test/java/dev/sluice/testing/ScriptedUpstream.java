package dev.sluice.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;

/**
 * An upstream that misbehaves on command and records each request as it came. Safe for all threads.
 */
public final class ScriptedUpstream implements AutoCloseable {
  /** What it answers when no script was set. */
  public static final String PLAIN_JSON = "{\"id\":\"plain\",\"object\":\"chat.completion\"}";

  private final ServerSocket listener;
  private final AtomicInteger accepted = new AtomicInteger();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final BlockingQueue<Recorded> recorded = new LinkedBlockingQueue<>();
  private final List<Throwable> faults = new ArrayList<>();
  private final Queue<Script> scripts = new ArrayDeque<>();
  private Script otherwise = Script.json(PLAIN_JSON);

  private ScriptedUpstream(ServerSocket listener) {
    this.listener = listener;
  }

  /** Starts one on a free port of this machine. */
  public static ScriptedUpstream start() {
    try {
      ScriptedUpstream upstream =
          new ScriptedUpstream(new ServerSocket(0, 1000, InetAddress.getLoopbackAddress()));
      daemon(upstream::accept);
      return upstream;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts one that speaks TLS on a free port of this machine. */
  public static ScriptedUpstream startTls(SSLContext tls) {
    try {
      ScriptedUpstream upstream =
          new ScriptedUpstream(
              tls.getServerSocketFactory()
                  .createServerSocket(0, 1000, InetAddress.getLoopbackAddress()));
      daemon(upstream::accept);
      return upstream;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The port it listens on. */
  public int port() {
    return listener.getLocalPort();
  }

  /** Forgets everything; then these scripts answer one request each, and plain JSON the others. */
  public synchronized void answers(Script... next) {
    always(Script.json(PLAIN_JSON));
    scripts.addAll(List.of(next));
  }

  /** Forgets everything; then this script answers each request. */
  public synchronized void always(Script script) {
    scripts.clear();
    recorded.clear();
    otherwise = script;
  }

  /** The next request that was not taken yet; waits for it. */
  public Recorded take() {
    try {
      Recorded next = recorded.poll(10, TimeUnit.SECONDS);
      if (next == null) {
        throw new AssertionError("no request reached the upstream");
      }
      return next;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** How many requests have come that were not taken. */
  public int waiting() {
    return recorded.size();
  }

  /** How many connections were ever accepted. */
  public int accepted() {
    return accepted.get();
  }

  /** How many connections are open. */
  public int open() {
    return open.size();
  }

  /** Ends every connection that is open, as an upstream does with idle ones. */
  public void closeConnections() {
    for (Socket socket : open) {
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Fails if a request could not be read, or a script failed by its own fault. */
  public synchronized void assertNoFaults() {
    if (!faults.isEmpty()) {
      throw new AssertionError("faults at the upstream: " + faults, faults.get(0));
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listener.accept();
        int connection = accepted.incrementAndGet();
        open.add(socket);
        daemon(() -> serve(socket, connection));
      }
    } catch (IOException closed) {
      // the end of the upstream
    }
  }

  private void serve(Socket socket, int connection) {
    try (socket) {
      socket.setTcpNoDelay(true);
      ByteSource in = new ByteSource(socket.getInputStream());
      boolean more = in.peek() >= 0;
      while (more) {
        Recorded request = new Recorded(connection, in.line(), in.headers());
        more = false;
        try {
          more = answer(request, new Conversation(socket, in, request));
        } finally {
          if (!more) {
            request.markGone();
          }
        }
      }
    } catch (IOException gone) {
      // the proxy ended the connection
    } catch (RuntimeException | AssertionError e) {
      fault(e);
    } finally {
      open.remove(socket);
    }
  }

  /** Answers a request, and waits whether another one follows it on the connection. */
  private boolean answer(Recorded request, Conversation conversation) throws IOException {
    Script script = next(request);
    if (!script.early()) {
      conversation.readBody();
    }
    script.answer(conversation);
    return conversation.awaitNext();
  }

  private synchronized Script next(Recorded request) {
    recorded.add(request);
    Script script = scripts.poll();
    return script == null ? otherwise : script;
  }

  private synchronized void fault(Throwable fault) {
    faults.add(fault);
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "scripted-upstream");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      listener.close();
      closeConnections();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
