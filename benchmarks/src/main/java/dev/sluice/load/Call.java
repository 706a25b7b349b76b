package dev.sluice.load;

import dev.sluice.load.LoadReport.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One connection of the load generator, and the answer under way on it. Event loop only. */
final class Call extends ChannelInboundHandlerAdapter {
  private static final byte[] DATA = "data: ".getBytes(StandardCharsets.US_ASCII);
  private static final Pattern STATUS_LINE = Pattern.compile("HTTP/1\\.1 [0-9]{3} .*");
  private static final byte[] DONE = "data: [DONE]".getBytes(StandardCharsets.US_ASCII);

  private final LoadGenerator generator;
  private final AskedAnswer asked;
  private final MessageReader reader = new Reader();

  /** The first bytes of a line of the stream: as many as matter. */
  private final byte[] line = new byte[DATA.length + Stamp.DIGITS];

  private @Nullable ChannelHandlerContext context;
  private long dueNanos;
  private boolean underWay;
  private boolean abandoned;
  private boolean first;
  private int status;
  private int lineLength;
  private long events;
  private boolean terminated;

  /** A connection whose first request is due then. */
  Call(LoadGenerator generator, AskedAnswer asked, long dueNanos) {
    this.generator = generator;
    this.asked = asked;
    this.dueNanos = dueNanos;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
    if (abandoned) {
      ctx.close();
    } else {
      send(dueNanos);
    }
  }

  void send(long due) {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      throw new IllegalStateException("connection: none (expected: open)");
    }
    dueNanos = due;
    underWay = true;
    first = true;
    status = 0;
    events = 0;
    lineLength = 0;
    terminated = false;
    generator.began();
    ctx.writeAndFlush(generator.nextRequest(), ctx.voidPromise());
  }

  boolean isUnderWay() {
    return underWay;
  }

  long dueNanos() {
    return dueNanos;
  }

  /** Nobody waits for an answer any more. */
  void abandon() {
    abandoned = true;
    underWay = false;
    if (context != null) {
      context.close();
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    try {
      if (!abandoned) {
        reader.read(bytes);
      }
    } catch (ProtocolException e) {
      fail(Failure.MALFORMED);
    } finally {
      bytes.release();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    fail(Failure.CLOSED);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    fail(Failure.CLOSED);
  }

  private void fail(Failure failure) {
    if (abandoned) {
      return;
    }
    boolean was = underWay;
    abandon();
    if (was) {
      generator.broken(this, dueNanos, failure);
    } else {
      generator.closed(this);
    }
  }

  private final class Reader extends MessageReader {
    @Override
    void startLine(String text) throws ProtocolException {
      if (!underWay || !STATUS_LINE.matcher(text).matches()) {
        throw new ProtocolException("answer: " + text + " (expected: one answer to one request)");
      }
      status = Integer.parseInt(text.substring(9, 12));
    }

    @Override
    void header(String name, String value) {}

    @Override
    void payload(ByteBuf in, int from, int length) throws ProtocolException {
      long now = System.nanoTime();
      if (first) {
        first = false;
        generator.firstByte(dueNanos, now);
      }
      if (asked.isStream()) {
        lines(in, from, from + length, now);
      }
    }

    private void lines(ByteBuf in, int from, int to, long now) throws ProtocolException {
      int at = from;
      while (at < to) {
        int lf = in.indexOf(at, to, (byte) '\n');
        int end = lf < 0 ? to : lf;
        int taken = Math.min(end - at, line.length - lineLength);
        in.getBytes(at, line, lineLength, taken);
        lineLength += taken;
        at = end + 1;
        if (lf >= 0) {
          line(now);
          lineLength = 0;
        }
      }
    }

    private void line(long now) throws ProtocolException {
      if (startsWith(DONE)) {
        terminated = true;
      } else if (lineLength == line.length && startsWith(DATA)) {
        events++;
        generator.event(Stamp.age(line, DATA.length, now), now);
      }
    }

    private boolean startsWith(byte[] start) {
      return lineLength >= start.length
          && Arrays.equals(line, 0, start.length, start, 0, start.length);
    }

    @Override
    void end() {
      if (status != 200) {
        fail(Failure.STATUS);
      } else if (asked.isStream() && (events != asked.events() || !terminated)) {
        fail(Failure.SHORT);
      } else {
        underWay = false;
        generator.answered(Call.this, dueNanos);
      }
    }
  }
}
