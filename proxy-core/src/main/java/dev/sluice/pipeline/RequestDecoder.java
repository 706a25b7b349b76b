package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.http.BodyFraming;
import dev.sluice.http.HttpLimits;
import dev.sluice.http.Pieces;
import dev.sluice.http.RequestHeadParser;
import dev.sluice.sse.BodyScanner;
import dev.sluice.timer.Deadline;
import dev.sluice.timer.LoopTimer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * Turns a connection's bytes into requests, RFC 9112: strictly, in time, and one at a time. It
 * reads a head, and no further until it is told what becomes of the body; when the body was read or
 * skipped it waits until the next request is wanted. What a caller sends ahead waits here, in a
 * bounded place; past the bound the socket is not read.
 *
 * <p>A head or body that cannot be read, or does not come in time, becomes an {@link Unreadable};
 * what comes after it is dropped, as nobody can say what it is.
 */
final class RequestDecoder extends ChannelInboundHandlerAdapter {
  /*
   * Why not Netty's decoder: it unfolds folded lines, takes several spaces for one, and reads other
   * versions, before any handler can see that there was something to refuse. A guard before it would
   * have to find where bodies end, and two parsers that cut differently are what smuggling needs.
   */
  private enum Phase {
    /** Reads a head. */
    HEAD,
    /** Waits for what the exchange wants. */
    PAUSED,
    /** Hands the body on. */
    BODY,
    /** Passes over a body that nobody wants. */
    SKIP,
    /** Drops what comes until the caller closes: the last answer must not be lost to a reset. */
    DISCARD
  }

  /** Most bytes that wait while an exchange is under way. */
  private static final int MAX_WAITING_BYTES = 64 << 10;

  /** Most bytes of an unwanted body that are read so that the connection can stay open. */
  private static final int MAX_SKIPPED_BYTES = 64 << 10;

  /** How long a closing connection waits for the caller to close it, in nanoseconds. */
  private static final long LINGER_NANOS = 2_000_000_000L;

  private static final BodyFraming NO_BODY = new BodyFraming(BodyFraming.Kind.LENGTH, 0, null);

  /** Has no state that changes, so it serves all connections. */
  private static final BodyScanner AT_END = new BodyScanner(NO_BODY);

  private final HttpLimits limits;
  private final RequestHeadParser parser;
  private final Deadline deadline;
  private @Nullable ChannelHandlerContext ctx;
  private @Nullable ByteBuf waiting;
  private Phase phase = Phase.HEAD;
  private BodyFraming framing = NO_BODY;
  private BodyScanner scanner = AT_END;
  private int skippedBytes;
  private boolean betweenRequests;
  private boolean decoding;
  private boolean readingStopped;

  RequestDecoder(HttpLimits limits, LoopTimer timer) {
    this.limits = limits;
    this.parser = new RequestHeadParser(limits);
    this.deadline =
        new Deadline(timer) {
          @Override
          protected void expired() {
            late();
          }
        };
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    ctx = added;
  }

  @Override
  public void channelActive(ChannelHandlerContext active) {
    deadline.arm(limits.headTimeout().toNanos());
    active.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext inactive) {
    dropWaiting();
    deadline.disarm();
    phase = Phase.DISCARD;
    inactive.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext removed) {
    dropWaiting();
    deadline.disarm();
  }

  @Override
  public void channelRead(ChannelHandlerContext reading, Object message) {
    waiting = Pieces.join(waiting, (ByteBuf) message);
    decode();
  }

  // What the connection wants. Event loop only.

  /** How many bytes of body the head announced; -1 where it did not say. */
  long declaredBodyBytes() {
    return framing.kind() == BodyFraming.Kind.LENGTH ? framing.length() : -1;
  }

  /** Whether the body has been read to its end, or there is none. */
  boolean isBodyRead() {
    return scanner.ended();
  }

  /** Whether a byte of what follows the head has come. */
  boolean hasWaiting() {
    return waiting != null && waiting.isReadable();
  }

  /** Whether the rest of the body is small enough to be skipped, as far as can be known. */
  boolean isBodySkippable() {
    return switch (framing.kind()) {
      case LENGTH -> scanner.remaining() <= MAX_SKIPPED_BYTES;
      case CHUNKED -> phase == Phase.PAUSED;
      case UNTIL_CLOSE -> false;
    };
  }

  /** Hands the body on. */
  void readBody() {
    phase = Phase.BODY;
    deadline.arm(limits.bodyTimeout().toNanos());
    decode();
  }

  /** Reads the next request, behind what is left of the body of this one. */
  void nextRequest() {
    if (scanner.ended()) {
      beginHead();
    } else {
      phase = Phase.SKIP;
      skippedBytes = 0;
      deadline.arm(limits.bodyTimeout().toNanos());
    }
    decode();
  }

  /**
   * Ends the connection behind its last answer. Closing while the caller still sends would reset
   * it, and the reset could overtake the answer: this side is closed alone, and what still comes is
   * dropped until the caller closes the other, or a short time has passed (RFC 9112 section 9.6).
   */
  void close() {
    phase = Phase.DISCARD;
    dropWaiting();
    resumeReading();
    if (context().channel() instanceof DuplexChannel duplex) {
      deadline.arm(LINGER_NANOS);
      duplex.shutdownOutput();
    } else {
      context().close();
    }
  }

  private void beginHead() {
    phase = Phase.HEAD;
    betweenRequests = true;
    deadline.arm(limits.keepAliveTimeout().toNanos());
  }

  private void decode() {
    if (decoding) {
      return; // called from within: the loop below goes on
    }
    decoding = true;
    try {
      boolean more = true;
      while (more) {
        more =
            switch (phase) {
              case HEAD -> hasWaiting() && head(waiting());
              case BODY -> body(hasWaiting() ? waiting() : Unpooled.EMPTY_BUFFER);
              case SKIP -> skip(hasWaiting() ? waiting() : Unpooled.EMPTY_BUFFER);
              case PAUSED -> false;
              case DISCARD -> {
                dropWaiting();
                yield false;
              }
            };
      }
    } finally {
      decoding = false;
    }
    if (waiting != null && !waiting.isReadable()) {
      dropWaiting();
    }
    if (phase == Phase.PAUSED && waiting != null && waiting.readableBytes() > MAX_WAITING_BYTES) {
      readingStopped = true;
      context().channel().config().setAutoRead(false);
    } else {
      resumeReading();
    }
  }

  private void resumeReading() {
    if (readingStopped) {
      readingStopped = false;
      context().channel().config().setAutoRead(true);
    }
  }

  private boolean head(ByteBuf in) {
    switch (parser.parse(in)) {
      case MORE -> {
        // An empty line behind the last request is none of the next.
        if (betweenRequests && parser.hasBegun()) {
          betweenRequests = false;
          deadline.arm(limits.headTimeout().toNanos());
        }
        return false;
      }
      case REFUSED -> unreadable(parser.refusal());
      case WHOLE -> {
        HttpRequest request = parser.take();
        boolean http10 = request.protocolVersion().equals(HttpVersion.HTTP_1_0);
        framing = BodyFraming.ofRequest(request.headers(), http10);
        String broken =
            framing.refusal() == null ? FramingGuard.broken(request) : framing.refusal();
        if (broken != null) {
          unreadable(RequestHeadParser.malformedRequest(broken), request);
          return false;
        }
        scanner = new BodyScanner(framing);
        deadline.disarm();
        phase = Phase.PAUSED;
        context().fireChannelRead(request);
      }
    }
    return true;
  }

  private boolean body(ByteBuf in) {
    int next = scanner.next(in);
    if (next > 0) {
      ByteBuf piece = in.readRetainedSlice(next);
      scanner.took(next);
      context().fireChannelRead(new DefaultHttpContent(piece));
    } else if (next == BodyScanner.END) {
      framing = NO_BODY;
      scanner = AT_END; // an answer may be long
      phase = Phase.PAUSED;
      deadline.disarm();
      context().fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
    } else if (next == BodyScanner.MALFORMED) {
      unreadable(RequestHeadParser.malformedRequest("its chunked body is malformed"));
    }
    return next != BodyScanner.MORE;
  }

  private boolean skip(ByteBuf in) {
    int next = scanner.next(in);
    if (next > 0) {
      in.skipBytes(next);
      scanner.took(next);
      skippedBytes += next;
    } else if (next == BodyScanner.END) {
      beginHead();
    }
    if (next == BodyScanner.MALFORMED || skippedBytes > MAX_SKIPPED_BYTES) {
      close();
      return false;
    }
    return next != BodyScanner.MORE;
  }

  private void late() {
    switch (phase) {
      case HEAD -> {
        if (betweenRequests) {
          context().close();
        } else {
          unreadable(
              Failure.of(
                  Reason.HEAD_TIMEOUT,
                  "The request's head did not arrive within "
                      + seconds(limits.headTimeout().toMillis())
                      + " seconds."));
        }
      }
      case BODY ->
          unreadable(
              Failure.of(
                  Reason.BODY_TIMEOUT,
                  "The request's body did not arrive within "
                      + seconds(limits.bodyTimeout().toMillis())
                      + " seconds."));
      case SKIP, DISCARD, PAUSED -> context().close();
    }
  }

  private static String seconds(long millis) {
    return millis % 1000 == 0 ? Long.toString(millis / 1000) : Double.toString(millis / 1000.0);
  }

  private void unreadable(Failure failure) {
    unreadable(failure, null);
  }

  private void unreadable(Failure failure, @Nullable HttpRequest head) {
    phase = Phase.DISCARD;
    deadline.disarm();
    context().fireChannelRead(new Unreadable(failure, head));
  }

  private void dropWaiting() {
    if (waiting != null) {
      waiting.release();
      waiting = null;
    }
  }

  private ByteBuf waiting() {
    if (waiting == null) {
      throw new IllegalStateException("waiting: none (expected: bytes)");
    }
    return waiting;
  }

  private ChannelHandlerContext context() {
    if (ctx == null) {
      throw new IllegalStateException("context: none (expected: added to a pipeline)");
    }
    return ctx;
  }
}
