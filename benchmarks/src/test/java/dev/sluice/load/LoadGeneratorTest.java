package dev.sluice.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.sluice.load.LoadReport.Failure;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LoadGeneratorTest {
  private static final String OK =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  private static final String STREAM =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  private static final String EVENT = "14\r\ndata: 000000000000\n\n\r\n";

  private final Sockets sockets = Sockets.open();
  private final List<Channel> listening = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (Channel channel : listening) {
      channel.close().get(30, TimeUnit.SECONDS);
    }
    sockets.close();
    sockets.group().terminationFuture().get(30, TimeUnit.SECONDS);
  }

  @Test
  void countsWhatWasAskedAndAnswered() throws Exception {
    LoadReport report = run(upstream(), load(100, 200, 100, new AskedAnswer(0, 1, 1_000)));

    assertThat(report.asked()).isEqualTo(100);
    assertThat(report.failures()).isEmpty();
    assertThat(report.answerNanos().getTotalCount()).isEqualTo(100);
    assertThat(report.firstByteNanos().getTotalCount()).isEqualTo(100);
    assertThat(report.lateNanos().getTotalCount()).isEqualTo(100);
    assertThat(report.relayNanos().getTotalCount()).isZero();
  }

  @Test
  void seesEveryEventOfStreams() throws Exception {
    LoadReport report = run(upstream(), load(50, 1_000, 100, new AskedAnswer(7, 10, 500)));

    assertThat(report.asked()).isEqualTo(50);
    assertThat(report.failures()).isEmpty();
    assertThat(report.answerNanos().getTotalCount()).isEqualTo(50);
    assertThat(report.answerNanos().getMinValue()).isGreaterThan(50_000_000); // 6 waits of 10 ms
    assertThat(report.relayNanos().getTotalCount()).isPositive();
  }

  @Test
  void holdsStreamsUntilTheEnd() throws Exception {
    LoadReport report = run(upstream(), Load.held(20, 10, 20).measuredFor(2_000));

    assertThat(report.openStreams()).isEqualTo(20);
    assertThat(report.failures()).isEmpty();
    assertThat(report.events()).isPositive();
  }

  @Test
  void callsWithOneKeyAfterTheOther() throws Exception {
    List<String> keys = new CopyOnWriteArrayList<>();
    SocketAddress scripted =
        scripted(
            request -> {
              keys.add(request.replaceFirst("(?s).*Bearer (\\S+)\r\n.*", "$1"));
              return OK;
            });

    LoadReport report = run(scripted, load(30, 200, 1, new AskedAnswer(0, 1, 20)).byKeys(3));

    assertThat(report.failures()).isEmpty();
    assertThat(keys).contains(Load.key(0), Load.key(1), Load.key(2)).hasSize(30);
  }

  /**
   * A proxy that stalls once makes one request slow on each connection, but all that came meanwhile
   * waited: with one connection, too, and however slow this machine is.
   */
  @Test
  void chargesAStallToAllThatCameMeanwhile() throws Exception {
    long stallNanos = 400_000_000;
    int[] asked = new int[1];
    List<Runnable> held = new ArrayList<>();
    boolean[] stalled = new boolean[1];
    SocketAddress stalling =
        listen(
            (ctx, request) -> {
              Runnable answer = () -> ctx.writeAndFlush(bytes(OK));
              if (++asked[0] == 20) {
                stalled[0] = true;
                ctx.executor()
                    .schedule(
                        () -> {
                          stalled[0] = false;
                          held.forEach(Runnable::run);
                          held.clear();
                        },
                        stallNanos,
                        TimeUnit.NANOSECONDS);
              }
              if (stalled[0]) {
                held.add(answer);
              } else {
                answer.run();
              }
            });

    LoadReport report = run(stalling, load(200, 1_000, 1, new AskedAnswer(0, 1, 20)));

    assertThat(report.failures()).isEmpty();
    Histogram answers = report.answerNanos();
    assertThat(answers.getTotalCount()).isEqualTo(200);
    // Every 5 ms one came; those of the first half of the stall waited for its other half.
    assertThat(answers.getCountBetweenValues(stallNanos / 2, answers.getMaxValue()))
        .isGreaterThanOrEqualTo(35);
  }

  @ParameterizedTest
  @MethodSource("failing")
  void countsAnswersThatFail(Failure failure, String answer) throws Exception {
    LoadReport report =
        run(scripted(request -> answer), load(40, 200, 10, new AskedAnswer(2, 1, 20)));

    assertThat(report.failures()).isEqualTo(Map.of(failure, 40L));
    assertThat(report.failed()).isEqualTo(40);
    assertThat(report.answerNanos().getTotalCount()).isZero();
  }

  static Stream<Arguments> failing() {
    return Stream.of(
        arguments(Failure.STATUS, "HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n"),
        arguments(Failure.STATUS, "HTTP/1.1 429 Too Many\r\nContent-Length: 2\r\n\r\n{}"),
        arguments(Failure.MALFORMED, "HTTP/1.1 200 OK\n\n"),
        arguments(Failure.MALFORMED, "HTTP/1.1 abc OK\r\n"),
        arguments(Failure.MALFORMED, STREAM + "e\r\ndata: not-a-time\n"),
        arguments(Failure.SHORT, STREAM + "0\r\n\r\n"),
        arguments(Failure.SHORT, STREAM + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"),
        arguments(Failure.SHORT, STREAM + (EVENT + EVENT) + "0\r\n\r\n"));
  }

  @Test
  void countsConnectionsThatEndEarly() throws Exception {
    SocketAddress closing =
        listen(
            (ctx, request) -> {
              ctx.writeAndFlush(bytes(OK.substring(0, OK.length() - 1)));
              ctx.close();
            });

    LoadReport report = run(closing, load(40, 200, 10, new AskedAnswer(0, 1, 20)));

    assertThat(report.failures()).isEqualTo(Map.of(Failure.CLOSED, 40L));
  }

  @Test
  void countsConnectionsThatAreRefused() throws Exception {
    SocketAddress nobody;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      nobody = socket.getLocalSocketAddress();
    }

    LoadReport report = run(nobody, load(20, 200, 10, new AskedAnswer(0, 1, 20)));

    assertThat(report.failures()).isEqualTo(Map.of(Failure.CONNECT, 20L));
  }

  /** So many requests, evenly over a window that begins with the first. */
  private static Load load(int requests, int windowMillis, int connections, AskedAnswer answer) {
    double perSecond = requests * 1_000.0 / windowMillis;
    return new Load(perSecond, connections, false, 0, windowMillis, 10, 0, 1, answer);
  }

  private LoadReport run(SocketAddress proxy, Load load) throws Exception {
    return new LoadGenerator(
            sockets.asking(), sockets.connecting(), proxy, load, LoadGenerator.Window.UNWATCHED)
        .run()
        .get(60, TimeUnit.SECONDS);
  }

  private SocketAddress upstream() throws Exception {
    StampedUpstream upstream = new StampedUpstream(sockets.answering());
    return bound(upstream.bind(sockets.listening(), loopback()));
  }

  private interface Script {
    String answer(String request);
  }

  private SocketAddress scripted(Script script) throws Exception {
    return listen((ctx, request) -> ctx.writeAndFlush(bytes(script.answer(request))));
  }

  /** What a peer does with a whole request. */
  private interface Peer {
    void request(ChannelHandlerContext ctx, String request);
  }

  private SocketAddress listen(Peer peer) throws Exception {
    ChannelInitializer<Channel> connections =
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            channel.pipeline().addLast(new Requests(peer));
          }
        };
    return bound(
        new ServerBootstrap()
            .group(sockets.answering())
            .channel(sockets.listening())
            .childHandler(connections)
            .bind(loopback()));
  }

  private SocketAddress bound(ChannelFuture binding) throws Exception {
    binding.get(30, TimeUnit.SECONDS);
    listening.add(binding.channel());
    return binding.channel().localAddress();
  }

  private static SocketAddress loopback() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
  }

  /** Reads requests in any pieces; their bodies end with a brace, and only there. */
  private static final class Requests extends ChannelInboundHandlerAdapter {
    private final Peer peer;
    private final StringBuilder request = new StringBuilder();

    Requests(Peer peer) {
      this.peer = peer;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf bytes = (ByteBuf) message;
      request.append(bytes.toString(StandardCharsets.US_ASCII));
      bytes.release();
      if (request.indexOf("]}") >= 0) {
        String whole = request.toString();
        request.setLength(0);
        peer.request(ctx, whole);
      }
    }
  }
}
