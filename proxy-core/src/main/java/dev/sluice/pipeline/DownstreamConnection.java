package dev.sluice.pipeline;

import dev.sluice.exchange.Downstream;
import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.LoopContext;
import dev.sluice.exchange.Route;
import dev.sluice.exchange.Snapshot;
import dev.sluice.http.ConnectionTokens;
import dev.sluice.timer.Deadline;
import dev.sluice.upstream.ConnectionLoss;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The downstream connection: begins an exchange for each head that was read, carries its answer,
 * and tells it when the caller is slow or gone. The exchange goes along the rules, and the contents
 * of its body come to them.
 */
final class DownstreamConnection extends ChannelInboundHandlerAdapter implements Downstream {
  private static final Logger logger = LoggerFactory.getLogger(DownstreamConnection.class);

  private static final Route UNREADABLE = new Route.Unknown();
  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /** How long a caller may take nothing of the last bytes of an answer, in nanoseconds. */
  private static final long STALLED_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** How long a caller whose answer was ended has to take the last bytes, in nanoseconds. */
  private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final LoopContext context;
  private final EdgeState state;
  private final Rules rules;
  private final RequestDecoder decoder;
  private final Deadline delivery;
  private @Nullable ChannelHandlerContext ctx;

  /** Asked for once: the way to it leads over four objects. */
  private @Nullable ChannelPromise voidPromise;

  private @Nullable Exchange exchange;
  private boolean tooMany;
  private boolean http10;
  private boolean awaitsContinue;
  private boolean closing;
  private boolean closingSoon;
  private boolean delivering;
  private long undeliveredBytes;

  /** Of the exchange under way. */
  private long answerBytes;

  DownstreamConnection(LoopContext context, EdgeState state, Rules rules, RequestDecoder decoder) {
    this.context = context;
    this.state = state;
    this.rules = rules;
    this.decoder = decoder;
    this.delivery =
        new Deadline(context.timer()) {
          @Override
          protected void expired() {
            checkDelivery();
          }
        };
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    ctx = added;
    voidPromise = added.voidPromise();
  }

  @Override
  public void channelActive(ChannelHandlerContext active) {
    tooMany = rules.admission().opened(active.channel());
    active.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext reading, Object message) {
    if (message instanceof HttpRequest head) {
      begin(head);
    } else if (message instanceof Unreadable unreadable) {
      closing = true;
      unreadable(unreadable);
    } else if (message instanceof HttpContent content && exchange != null && exchange.isOpen()) {
      exchange.countBytesIn(content.content().readableBytes());
      rules.messageBody().content(exchange, content);
    } else {
      ReferenceCountUtil.release(message); // the rest of a body that was refused
    }
  }

  private void begin(HttpRequest head) {
    http10 = head.protocolVersion().equals(HttpVersion.HTTP_1_0);
    closing |= !ConnectionTokens.of(head.headers()).keepsAlive(http10);
    awaitsContinue =
        !http10
            && head.headers()
                .containsValue(HttpHeaderNames.EXPECT, HttpHeaderValues.CONTINUE, true);
    String target = OriginForm.of(head.uri());
    Snapshot snapshot = state.snapshot();
    Route route = snapshot.routes().find(head.method(), OriginForm.path(target));
    Exchange next = new Exchange(this, snapshot, head, target, route, decoder.declaredBodyBytes());
    rules.take(begun(next));
  }

  private void unreadable(Unreadable unreadable) {
    Exchange refused =
        exchange == null
            ? begun(new Exchange(this, state.snapshot(), unreadable.head(), "", UNREADABLE, 0))
            : exchange;
    refused.refuse(unreadable.failure());
  }

  private Exchange begun(Exchange next) {
    exchange = next;
    answerBytes = 0;
    state.exchangeBegan();
    return next;
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext changed) {
    if (exchange != null) {
      exchange.writabilityChanged(changed.channel().isWritable());
    }
    changed.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext inactive) {
    rules.admission().closed();
    if (exchange != null) {
      exchange.downstreamClosed();
    }
    inactive.fireChannelInactive();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext triggered, Object event) {
    if (event == EdgeState.GRACE_OVER) {
      if (exchange != null) {
        exchange.shutdown();
      }
    } else if (event == EdgeState.KEYS_CHANGED) {
      if (exchange != null) {
        rules.bearerKey().recheck(exchange);
      }
    } else {
      triggered.fireUserEventTriggered(event);
    }
  }

  /** The exchange under way; null where there is none. */
  @Nullable Exchange exchange() {
    return exchange;
  }

  /**
   * What nobody caught: a connection that broke is closed; anything else is a fault of Sluice,
   * which ends the exchange, with 500 where that is still possible. Every other exchange goes on.
   */
  @Override
  public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
    if (ConnectionLoss.is(cause)) {
      caught.close();
    } else if (exchange == null) {
      logger.error("fault of Sluice between two requests", cause);
      caught.close();
    } else {
      closing = true;
      exchange.fault(cause);
    }
  }

  // Downstream

  @Override
  public LoopContext context() {
    return context;
  }

  @Override
  public ByteBufAllocator alloc() {
    return channel().alloc();
  }

  @Override
  public boolean isTooMany() {
    return tooMany;
  }

  @Override
  public boolean readsChunks() {
    return !http10;
  }

  @Override
  public boolean isWritable() {
    return channel().channel().isWritable();
  }

  @Override
  public long unsentBytes() {
    ChannelOutboundBuffer waiting = channel().channel().unsafe().outboundBuffer();
    return waiting == null ? 0 : waiting.totalPendingWriteBytes();
  }

  @Override
  public long answerBytes() {
    return answerBytes;
  }

  @Override
  public boolean keepsAlive() {
    // A caller that waits for 100 Continue may send its body after the answer, or not: nobody
    // knows.
    boolean reachesNext = decoder.isBodyRead() || (!awaitsContinue && decoder.isBodySkippable());
    closing |= !reachesNext || state.isDraining();
    return !closing;
  }

  @Override
  public void closeAfterAnswer() {
    closing = true;
  }

  @Override
  public void closeSoon() {
    closingSoon = true;
    if (delivering) {
      // Its head has said whether there is a next answer, and a caller who has it may ask already.
      delivery.arm(SOON_NANOS);
    } else {
      closing = true;
    }
  }

  @Override
  public void readBody() {
    if (awaitsContinue && !decoder.hasWaiting() && !decoder.isBodyRead()) {
      channel().writeAndFlush(Unpooled.wrappedBuffer(CONTINUE), voidPromise);
    }
    awaitsContinue = false;
    decoder.readBody();
  }

  @Override
  public void write(ByteBuf bytes) {
    count(bytes);
    channel().write(bytes, voidPromise);
  }

  private void count(ByteBuf bytes) {
    if (answerBytes == 0 && exchange != null) {
      exchange.firstByte();
    }
    answerBytes += bytes.readableBytes();
  }

  @Override
  public void flush() {
    context.pool().flush().add(channel());
  }

  @Override
  public void writeLast(ByteBuf bytes) {
    Exchange ending = exchange;
    if (ending == null) {
      bytes.release();
      return;
    }
    count(bytes);
    ChannelFuture written = channel().write(bytes);
    flush();
    if (!written.isDone()) {
      undeliveredBytes = undeliveredBytes();
      delivering = true;
      delivery.arm(closingSoon ? SOON_NANOS : STALLED_NANOS);
    }
    written.addListener(future -> ending.delivered(future.isSuccess()));
  }

  /**
   * The last bytes are still on their way: a caller who takes some has more time, others do not.
   */
  private void checkDelivery() {
    long left = undeliveredBytes();
    if (closingSoon || left == undeliveredBytes) {
      abort();
    } else {
      undeliveredBytes = left;
      delivery.arm(STALLED_NANOS);
    }
  }

  /** Counts what is written in part, too: one buffer may be a whole answer. */
  private long undeliveredBytes() {
    ChannelOutboundBuffer waiting = channel().channel().unsafe().outboundBuffer();
    if (waiting == null) {
      return 0;
    }
    long partial = waiting.current() instanceof ByteBuf first ? first.readableBytes() : 0;
    return waiting.totalPendingWriteBytes() + partial;
  }

  @Override
  public void exchangeEnded() {
    exchange = null;
    delivering = false;
    closingSoon = false;
    delivery.disarm();
    state.exchangeEnded();
    if (!channel().channel().isActive()) {
      return;
    }
    if (closing) {
      decoder.close();
    } else {
      decoder.nextRequest();
    }
  }

  @Override
  public void abort() {
    channel().close();
  }

  private ChannelHandlerContext channel() {
    if (ctx == null) {
      throw new IllegalStateException("context: none (expected: added to a pipeline)");
    }
    return ctx;
  }
}
