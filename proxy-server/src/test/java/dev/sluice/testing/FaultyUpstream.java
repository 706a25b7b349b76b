package dev.sluice.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * An upstream that is a process of its own, so that it can be killed, stopped and started anew. It
 * answers an {@link Order}, and {@code GET /health}, whatever else is wrong with it, with 200.
 *
 * <p>It reads commands from its standard input, a line each, and says {@code ok} on its standard
 * output when one has taken effect:
 *
 * <ul>
 *   <li>{@code normal}: as ordered
 *   <li>{@code status N}: this status to each new request, {@code Retry-After: 1} with 503 and 429
 *   <li>{@code trickle}: every byte in a packet of its own
 *   <li>{@code answered}: says how many orders were answered whole, in place of {@code ok}
 *   <li>{@code reset}: resets every connection, takes no more, and exits
 * </ul>
 *
 * <p>It ends with its standard input, so it does not outlive the test.
 */
public final class FaultyUpstream {
  private static final Duration TRICKLE = Duration.ofMillis(10);
  private static final Duration FIRST_EVENT = Duration.ofMillis(20);
  private static final Pattern STATUS = Pattern.compile("status (\\d{3})");

  private final ServerSocket listener = new ServerSocket();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicLong answered = new AtomicLong();
  private volatile boolean trickling;

  /** 0 for as ordered. */
  private volatile int status;

  private FaultyUpstream(int port) throws IOException {
    // The test keeps the port bound, so that nobody takes it while this process is down.
    listener.setReuseAddress(true);
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
  }

  /** Listens on the port that is its argument. */
  public static void main(String... args) throws IOException {
    FaultyUpstream upstream = new FaultyUpstream(Integer.parseInt(args[0]));
    daemon(upstream::accept);
    System.out.println("ok");
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      System.out.println(upstream.obey(line));
    }
    Runtime.getRuntime().halt(0);
  }

  private String obey(String command) throws IOException {
    switch (command) {
      case "normal" -> {
        trickling = false;
        status = 0;
      }
      case "trickle" -> trickling = true;
      case "answered" -> {
        return Long.toString(answered.get());
      }
      case "reset" -> {
        listener.close();
        for (Socket socket : open) {
          socket.setSoLinger(true, 0);
          socket.close();
        }
        System.out.println("ok");
        Runtime.getRuntime().halt(0);
      }
      default -> {
        var matcher = STATUS.matcher(command);
        if (!matcher.matches()) {
          return "unknown: " + command;
        }
        status = Integer.parseInt(matcher.group(1));
      }
    }
    return "ok";
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listener.accept();
        open.add(socket);
        daemon(() -> serve(socket));
      }
    } catch (IOException closed) {
      // by the command
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "faulty-upstream");
    thread.setDaemon(true);
    thread.start();
  }

  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      ByteSource in = new ByteSource(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      while (in.peek() >= 0) {
        String path = in.line().split(" ", -1)[1];
        List<Header> headers = in.headers();
        List<String> lengths = Header.values(headers, "content-length");
        String body = lengths.isEmpty() ? "" : in.exactly(Integer.parseInt(lengths.get(0)));
        if (path.equals("/health")) {
          out.write(Wire.bytes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        } else {
          answer(Order.of(path, body), out);
        }
      }
    } catch (IOException gone) {
      // the proxy, or this side's own reset
    } finally {
      open.remove(socket);
    }
  }

  private void answer(Order order, OutputStream out) throws IOException {
    int faulty = status;
    if (faulty != 0) {
      boolean later = faulty == 503 || faulty == 429;
      String[] lines = later ? new String[] {"Retry-After: 1"} : new String[0];
      out.write(
          Wire.bytes(
              Script.head(faulty, "application/json", lines) + "Content-Length: 2\r\n\r\n{}"));
      return;
    }
    if (order.stream()) {
      send(out, Script.streamHead());
      for (int i = 0; i < order.events(); i++) {
        Eventually.pause(i == 0 ? FIRST_EVENT : Duration.ofMillis(order.gapMillis()));
        send(out, Script.chunks(order.event(i)));
      }
      send(out, Script.chunks(order.terminator()) + "0\r\n\r\n");
    } else {
      Eventually.pause(Duration.ofMillis(order.gapMillis()));
      String whole = order.whole();
      send(
          out,
          Script.head(200, "application/json")
              + "Content-Length: "
              + whole.length()
              + "\r\n\r\n"
              + whole);
    }
    answered.incrementAndGet();
  }

  private void send(OutputStream out, String wire) throws IOException {
    int sent = 0;
    for (; trickling && sent < wire.length(); sent++) {
      out.write(wire.charAt(sent));
      Eventually.pause(TRICKLE);
    }
    out.write(Wire.bytes(wire.substring(sent)));
  }
}
