package dev.sluice.lifecycle;

import dev.sluice.transport.Waiting;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * Where the warm-up's requests go: an upstream that knows three answers by heart. The demo's would
 * do, but to load it took a third to a half of the first round, and to have it read and write JSON
 * more than half of each later one.
 */
final class WarmupUpstream implements AutoCloseable {
  private static final byte[] CHAT_COMPLETION =
      whole(
          """
          {"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"warm-up",\
          "choices":[{"index":0,"message":{"role":"assistant","content":"hi"},\
          "finish_reason":"stop"}],\
          "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}""");
  private static final byte[] CHAT_COMPLETION_STREAM =
      stream(
          """
          data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,\
          "model":"warm-up","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}

          """,
          """
          data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,\
          "model":"warm-up","choices":[],\
          "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}

          """,
          """
          data: [DONE]

          """);
  private static final byte[] MESSAGE_STREAM =
      stream(
          """
          event: message_start
          data: {"type":"message_start","message":{"id":"msg_1","type":"message",\
          "role":"assistant","model":"warm-up","content":[],\
          "usage":{"input_tokens":1,"output_tokens":1}}}

          """,
          """
          event: content_block_delta
          data: {"type":"content_block_delta","index":0,\
          "delta":{"type":"text_delta","text":"hi"}}

          """,
          """
          event: message_delta
          data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},\
          "usage":{"output_tokens":1}}

          """,
          """
          event: message_stop
          data: {"type":"message_stop"}

          """);

  private final Channel listening;

  private WarmupUpstream(Channel listening) {
    this.listening = listening;
  }

  /**
   * Starts it on a free loopback port, and returns when it listens.
   *
   * @throws IOException when it cannot listen
   */
  static WarmupUpstream start(EventLoopGroup loops, Class<? extends ServerChannel> channel)
      throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    return new WarmupUpstream(
        Waiting.bound(
            new ServerBootstrap()
                .group(loops)
                .channel(channel)
                .childHandler(
                    new ChannelInitializer<>() {
                      @Override
                      protected void initChannel(Channel accepted) {
                        accepted.pipeline().addLast(new Answering());
                      }
                    })
                .bind(address),
            "warm-up upstream",
            address));
  }

  int port() {
    return ((InetSocketAddress) listening.localAddress()).getPort();
  }

  /** Stops listening. A connection ends when the other side closes it. */
  @Override
  public void close() {
    listening.close();
  }

  private static byte[] whole(String body) {
    return bytes(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body);
  }

  private static byte[] stream(String... events) {
    StringBuilder answer =
        new StringBuilder(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n");
    for (String event : events) {
      answer.append(Integer.toHexString(event.length())).append("\r\n");
      answer.append(event).append("\r\n");
    }
    return bytes(answer.append("0\r\n\r\n").toString());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static final class Answering extends ChannelInboundHandlerAdapter {
    private String request = "";

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf bytes = (ByteBuf) message;
      request += bytes.toString(StandardCharsets.US_ASCII);
      bytes.release();
      // A head ends with a line end, and a body, one JSON object, with its brace.
      if (request.endsWith("}")) {
        ctx.writeAndFlush(Unpooled.wrappedBuffer(answer()), ctx.voidPromise());
        request = "";
      }
    }

    private byte[] answer() {
      if (request.startsWith("POST /v1/messages ")) {
        return MESSAGE_STREAM;
      }
      return request.contains("\"stream\":true") ? CHAT_COMPLETION_STREAM : CHAT_COMPLETION;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      ctx.close();
    }
  }
}
