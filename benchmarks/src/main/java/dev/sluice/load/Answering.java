package dev.sluice.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** One connection to the upstream, and its answer under way. Event loop only. */
final class Answering extends ChannelInboundHandlerAdapter {
  private static final byte[] STREAM_HEAD =
      ascii(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
              + "Transfer-Encoding: chunked\r\n\r\n");
  private static final byte[] STREAM_END = ascii("e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
  private static final byte[] NOTHING = {};

  /** A request that asks for nothing is answered, too: whoever looks whether the proxy is ready. */
  private static final AskedAnswer NOTHING_ASKED = new AskedAnswer(0, 1, 100);

  private static final int DATA_BYTES = "data: ".length();

  private final StampedUpstream upstream;
  private final MessageReader reader = new Reader();
  private @Nullable ChannelHandlerContext context;
  private @Nullable AskedAnswer asked;
  private byte[] chunk = NOTHING;
  private int stampAt;
  private int eventsLeft;

  /** When the event under way was due, or the next is, by the upstream's ticks. */
  long dueTick;

  Answering(StampedUpstream upstream) {
    this.upstream = upstream;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    context = null;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    try {
      reader.read(bytes);
    } catch (ProtocolException e) {
      ctx.close();
    } finally {
      bytes.release();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close();
  }

  boolean isOpen() {
    return context != null;
  }

  private void answer(AskedAnswer answer) {
    if (answer.isStream()) {
      prepareEvents(answer.bytes());
      eventsLeft = answer.events();
      dueTick = upstream.nowTick();
      event(System.nanoTime());
    } else {
      String start = "{\"answer\":\"";
      String document = start + "x".repeat(answer.bytes() - start.length() - 2) + "\"}";
      write(
          ascii(
              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                  + document.length()
                  + "\r\n\r\n"
                  + document),
          NOTHING,
          NOTHING,
          0);
    }
  }

  /** One event is one chunk; all of a stream have one size. */
  private void prepareEvents(int bytes) {
    String size = Integer.toHexString(bytes) + "\r\n";
    stampAt = size.length() + DATA_BYTES;
    int padding = bytes - AskedAnswer.MIN_EVENT_BYTES;
    chunk = ascii(size + "data: " + "0".repeat(Stamp.DIGITS) + "x".repeat(padding) + "\n\n\r\n");
  }

  /** Sends the next event, and what ends the stream where it is the last. */
  void event(long dueNanos) {
    AskedAnswer answer = asked;
    if (answer == null) {
      throw new IllegalStateException("stream: none (expected: an event is due)");
    }
    boolean isFirst = eventsLeft == answer.events();
    boolean isLast = --eventsLeft == 0;
    write(isFirst ? STREAM_HEAD : NOTHING, chunk, isLast ? STREAM_END : NOTHING, dueNanos);
    if (!isLast) {
      dueTick += answer.intervalMillis();
      upstream.schedule(this);
    }
  }

  private void write(byte[] before, byte[] event, byte[] after, long dueNanos) {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      return;
    }
    ByteBuf out = ctx.alloc().directBuffer(before.length + event.length + after.length);
    out.writeBytes(before).writeBytes(event).writeBytes(after);
    if (event.length > 0) {
      Stamp.write(out, before.length + stampAt, dueNanos);
    }
    ctx.writeAndFlush(out, ctx.voidPromise());
  }

  private final class Reader extends MessageReader {
    @Override
    void startLine(String text) {
      asked = null;
    }

    @Override
    void header(String name, String value) throws ProtocolException {
      if (name.equals(AskedAnswer.HEADER)) {
        asked = AskedAnswer.ofHeader(value);
      }
    }

    @Override
    void payload(ByteBuf in, int from, int length) {}

    @Override
    void end() {
      if (asked == null) {
        asked = NOTHING_ASKED;
      }
      answer(asked);
    }
  }
}
