package dev.sluice.upstream;

import dev.sluice.http.BodyFraming;
import dev.sluice.http.ConnectionTokens;
import dev.sluice.http.HeadParser.Progress;
import dev.sluice.http.Pieces;
import dev.sluice.http.ResponseHead;
import dev.sluice.http.ResponseHeadParser;
import dev.sluice.upstream.AnswerHandler.Next;
import dev.sluice.upstream.ConnectionCounts.State;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to an endpoint: reads the heads of answers, hands the bytes of their bodies on as
 * they came, and goes back to its pool only after exactly one whole answer to exactly one request,
 * with no byte too many. Event loop only.
 */
public final class UpstreamConnection extends ChannelInboundHandlerAdapter {
  private static final Logger logger = LoggerFactory.getLogger(UpstreamConnection.class);

  private enum Phase {
    CONNECTING,
    IDLE,
    /** Carries an exchange; no byte of its answer has come. */
    WAITING,
    HEAD,
    BODY,
    CLOSED
  }

  /**
   * A pooled connection that dies within this time of its reuse, in nanoseconds, had died before
   * it. One that dies later may have died of the request: asking again would do it twice.
   */
  private static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final EndpointPool pool;
  private final ResponseHeadParser parser = new ResponseHeadParser();
  private @Nullable Channel channel;
  private @Nullable AnswerHandler handler;
  private @Nullable ByteBuf partialHead;
  private Phase phase = Phase.CONNECTING;
  private @Nullable State counted;
  private boolean reused;
  private boolean requestWritten;
  private boolean keepAlive;
  private boolean tlsEnded;
  private boolean writeFailed;
  private long begunNanos;
  private long idleSinceNanos;

  UpstreamConnection(EndpointPool pool, AnswerHandler handler) {
    this.pool = pool;
    this.handler = handler;
    count(State.CONNECTING);
  }

  /** The channel exists; it is not connected yet. */
  void attach(Channel newChannel) {
    channel = newChannel;
  }

  /** The channel is connected, TLS included. */
  void connected() {
    if (phase == Phase.CONNECTING && handler != null) {
      begin(handler);
    }
  }

  /** The channel could not be connected. */
  void connectFailed() {
    if (phase == Phase.CONNECTING) {
      fail(false);
    }
  }

  /** Carries another exchange, out of the pool. */
  void reuse(AnswerHandler next) {
    reused = true;
    begin(next);
  }

  private void begin(AnswerHandler next) {
    phase = Phase.WAITING;
    count(State.ACTIVE);
    requestWritten = false;
    begunNanos = pool.nowNanos();
    handler = next;
    try {
      next.connected(this);
    } catch (RuntimeException | Error e) {
      cancel();
      next.fault(e); // nothing of the request was sent that could be answered
    }
  }

  /** Sends the request: its head, and its body unless it is empty. Takes both buffers. */
  public void send(ByteBuf head, ByteBuf body) {
    Channel open = open();
    ChannelFuture written;
    if (Pieces.append(head, body)) {
      written = open.write(head);
    } else {
      open.write(head, open.voidPromise());
      written = open.write(body);
    }
    pool.flush().add(open);
    written.addListener(
        future -> {
          requestWritten = future.isSuccess();
          writeFailed = !requestWritten;
        });
  }

  /** Reads on, or lets bytes wait in the socket: flow control from the slowest reader. */
  public void setReading(boolean reading) {
    if (channel != null) {
      channel.config().setAutoRead(reading);
    }
  }

  /** Ends the exchange over this connection at once; the handler hears nothing more. */
  public void cancel() {
    handler = null;
    close();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf in = (ByteBuf) message;
    switch (phase) {
      case WAITING, HEAD -> head(in);
      case BODY -> after(handler().body(in));
      case CONNECTING, IDLE, CLOSED -> {
        // Bytes that nobody asked for: what follows could be taken for another request's answer.
        in.release();
        close();
      }
    }
  }

  private void head(ByteBuf piece) {
    ByteBuf in = Pieces.join(partialHead, piece);
    partialHead = null;
    if (phase == Phase.WAITING && in.isReadable()) {
      phase = Phase.HEAD;
    }
    while (phase == Phase.HEAD) {
      Progress progress = parser.parse(in);
      if (progress == Progress.MORE) {
        if (in.isReadable()) {
          partialHead = in;
        } else {
          in.release();
        }
        return;
      }
      if (progress == Progress.REFUSED || !head(parser.take())) {
        in.release();
        malformed();
        return;
      }
    }
    if (phase == Phase.BODY) {
      after(handler().body(in));
    } else {
      in.release();
    }
  }

  /** Takes a whole head; false where it makes no sense as an answer. */
  private boolean head(ResponseHead head) {
    if (head.status() == 101) {
      return false; // nothing was asked to be switched
    }
    if (head.status() < 200) {
      return true; // an interim answer; the next head follows
    }
    BodyFraming framing = BodyFraming.ofAnswer(head);
    if (framing.refusal() != null) {
      return false;
    }
    keepAlive =
        framing.kind() != BodyFraming.Kind.UNTIL_CLOSE
            && ConnectionTokens.of(head.headers()).keepsAlive(head.http10());
    phase = Phase.BODY;
    if (handler().head(head, framing) == Next.CLOSE) {
      cancel();
    }
    return true;
  }

  private void malformed() {
    AnswerHandler told = handler;
    cancel();
    if (told != null) {
      told.malformed();
    }
  }

  private void after(Next next) {
    switch (next) {
      case READ_ON -> {}
      case CLOSE -> cancel();
      case REUSE -> {
        handler = null;
        Channel open = open();
        // An early answer leaves the rest of the request on the wire; it would begin the next one.
        if (keepAlive && requestWritten && phase == Phase.BODY && open.isActive()) {
          phase = Phase.IDLE;
          count(State.IDLE);
          idleSinceNanos = pool.nowNanos();
          open.config().setAutoRead(true); // a peer that closes an idle connection is to be seen
          pool.put(this);
        } else {
          close();
        }
      }
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (handler != null && phase == Phase.BODY) {
      handler.readComplete();
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    tlsEnded |= event == SslCloseCompletionEvent.SUCCESS;
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    fail(!writeFailed && (!pool.isTls() || tlsEnded));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (ConnectionLoss.is(cause)) {
      fail(false);
      return;
    }
    AnswerHandler told = handler;
    cancel();
    if (told != null) {
      told.fault(cause);
    } else {
      logger.error("fault of Sluice on an idle upstream connection", cause);
    }
  }

  private void fail(boolean orderly) {
    AnswerHandler told = handler;
    boolean stale = reused && phase == Phase.WAITING && pool.nowNanos() - begunNanos <= STALE_NANOS;
    cancel();
    if (told != null) {
      told.closed(stale, orderly);
    }
  }

  private void close() {
    if (phase == Phase.CLOSED) {
      return;
    }
    phase = Phase.CLOSED;
    count(null);
    if (partialHead != null) {
      partialHead.release();
      partialHead = null;
    }
    if (channel != null) {
      channel.close();
    }
  }

  boolean isIdle() {
    return phase == Phase.IDLE;
  }

  /** Closes it where it has been idle since before this time. */
  void closeIfIdleSince(long nanos) {
    if (phase == Phase.IDLE && idleSinceNanos - nanos <= 0) {
      close();
    }
  }

  private void count(@Nullable State state) {
    if (counted != null) {
      pool.counts().leave(counted);
    }
    if (state != null) {
      pool.counts().enter(state);
    }
    counted = state;
  }

  private AnswerHandler handler() {
    if (handler == null) {
      throw new IllegalStateException("phase: " + phase + " (expected: one with a handler)");
    }
    return handler;
  }

  private Channel open() {
    if (channel == null) {
      throw new IllegalStateException("channel: none (expected: attached)");
    }
    return channel;
  }
}
