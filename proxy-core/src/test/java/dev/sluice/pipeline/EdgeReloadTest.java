package dev.sluice.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.Key;
import dev.sluice.access.Plan;
import dev.sluice.access.Subscription;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import dev.sluice.upstream.UpstreamTransport;
import io.netty.channel.Channel;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reloads of a whole edge over real sockets, while callers ask. */
class EdgeReloadTest {
  private static final int CALLERS = 3;
  private static final int RELOADS = 100;
  private static final byte[] REQUEST =
      "GET /v1/models HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer sk\r\n\r\n"
          .getBytes(StandardCharsets.US_ASCII);

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
  private final Set<String> plansSeen = ConcurrentHashMap.newKeySet();
  private volatile Key known = key("plan-0");
  private final Edge edge =
      new Edge(
          config("plan-0"),
          hash -> CompletableFuture.completedFuture(Optional.of(known)),
          loops,
          new UpstreamTransport(
              NioSocketChannel::new,
              DefaultAddressResolverGroup.INSTANCE,
              () -> {
                throw new AssertionError("no upstream is asked for");
              }),
          Runnable::run,
          summary -> plansSeen.add(String.valueOf(summary.plan())),
          InstantSource.system());

  private static EdgeConfig config(String plan) {
    return new EdgeConfig(
        HttpLimits.DEFAULT,
        List.of(new Plan(plan, 1, 1, Set.of(), true)),
        List.of(PipelineFixture.model(plan)),
        Operation.BUILT_IN,
        Duration.ZERO,
        0,
        1 << 20);
  }

  private static Key key(String plan) {
    return new Key("key", new Subscription("acme", plan, true), null, false);
  }

  @AfterEach
  void close() throws Exception {
    edge.close(0).get(10, TimeUnit.SECONDS);
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(10, TimeUnit.SECONDS);
  }

  @Test
  void aPlanAndItsKeysChangeTogetherAndNobodyIsRefused() throws Exception {
    edge.ready();
    Channel listening =
        edge.bind(
                NioServerSocketChannel.class,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .await()
            .channel();
    int port = ((InetSocketAddress) listening.localAddress()).getPort();
    List<Semaphore> answered = new ArrayList<>();
    List<CompletableFuture<List<String>>> callers = new ArrayList<>();
    CompletableFuture<Integer> last = new CompletableFuture<>();
    for (int i = 0; i < CALLERS; i++) {
      Semaphore answers = new Semaphore(0);
      answered.add(answers);
      callers.add(CompletableFuture.supplyAsync(() -> ask(port, answers, last), this::start));
    }
    for (int i = 1; i <= RELOADS; i++) {
      String plan = "plan-" + i;
      edge.reload(config(plan), () -> known = key(plan));
      awaitOneMoreOfEach(answered);
    }
    last.complete(RELOADS);

    for (CompletableFuture<List<String>> caller : callers) {
      assertThat(caller.get(30, TimeUnit.SECONDS)).containsOnly("200");
    }
    assertThat(plansSeen).contains("plan-" + RELOADS).doesNotContain("null");
  }

  /** So that no exchange sees two reloads, as none does that operators make. */
  private static void awaitOneMoreOfEach(List<Semaphore> answered) throws InterruptedException {
    for (Semaphore answers : answered) {
      answers.drainPermits();
      assertThat(answers.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  private void start(Runnable caller) {
    Thread thread = new Thread(caller, "caller");
    thread.setDaemon(true);
    thread.start();
  }

  /** Asks until the last reload is over, and once after it; the statuses that were answered. */
  private static List<String> ask(int port, Semaphore answers, CompletableFuture<Integer> last) {
    Set<String> statuses = ConcurrentHashMap.newKeySet();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(10_000);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      boolean over = false;
      while (!over) {
        over = last.isDone();
        socket.getOutputStream().write(REQUEST);
        String body = answer(in, statuses);
        answers.release();
        if (over) {
          assertThat(body).contains("\"plan-" + last.join() + "\"");
        }
      }
    } catch (IOException e) {
      statuses.add(e.toString());
    }
    return List.copyOf(statuses);
  }

  private static String answer(DataInputStream in, Set<String> statuses) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
      head.append((char) in.readUnsignedByte());
    }
    statuses.add(head.substring(9, 12));
    String length = "content-length: ";
    int at = head.indexOf(length) + length.length();
    byte[] body = new byte[Integer.parseInt(head.substring(at, head.indexOf("\r", at)))];
    in.readFully(body);
    return new String(body, StandardCharsets.US_ASCII);
  }
}
