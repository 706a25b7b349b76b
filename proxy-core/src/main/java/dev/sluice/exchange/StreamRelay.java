package dev.sluice.exchange;

import dev.sluice.error.ErrorBody;
import dev.sluice.error.Failure;
import dev.sluice.http.BodyFraming;
import dev.sluice.http.Pieces;
import dev.sluice.http.ResponseHead;
import dev.sluice.message.UsageScanner;
import dev.sluice.sse.BodyScanner;
import dev.sluice.sse.EventScanner;
import dev.sluice.timer.Deadline;
import dev.sluice.upstream.AnswerHandler.Next;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Sends a stream of events on as it comes, whole events at a time, so that whatever happens the
 * caller stands on an event boundary when it must be told. The head is sent with the first event:
 * an upstream that fails before it has one still gives a real 502. A stream that ends without its
 * dialect's terminator has broken off, in whatever order it ended; one whose terminator the caller
 * has is whole, whatever comes behind it.
 *
 * <p>With {@code sse-ping} a caller who was sent nothing for that long is sent a comment line,
 * where it stands between two events and, if the chunks are the upstream's, between two of those.
 * Before the first event the ping sends the head: from then on there is no 502 any more.
 */
abstract class StreamRelay implements AnswerBody {
  /**
   * Most bytes of an unfinished event that are held back, 64 KiB. Past it they are sent on, and a
   * stream that then breaks off within that event ends with a broken event before the error event.
   */
  static final int MAX_HELD_BYTES = 64 << 10;

  /** The end of a chunked body, without trailers. */
  static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /** A comment and the end of its block; an event stream's reader skips both. */
  private static final byte[] PING = ": ping\n\n".getBytes(StandardCharsets.US_ASCII);

  /** The answer ended, but bytes came behind it. */
  static final int SURPLUS = -10;

  /** The answer ended too early; the exchange has failed. */
  static final int FAILED = -11;

  /*
   * With thousands of streams, what takes the time of an event is loading their objects into the
   * processor's caches. So what each event needs is held here, not reached through the exchange.
   */
  final Exchange exchange;
  final Downstream downstream;
  final BodyScanner scanner;
  final EventScanner events;
  private final UsageScanner usage = new UsageScanner();
  private final Answers.BodyEnd bodyEnd;
  private final @Nullable Deadline ping;
  private final long pingNanos;

  /** Until it is sent. */
  private @Nullable ResponseHead head;

  private long heldInBudget;
  private boolean came;
  private boolean written;
  private boolean progressed;
  private boolean terminatorSent;
  private boolean released;

  StreamRelay(Exchange exchange, ResponseHead head, BodyFraming framing, Answers.BodyEnd bodyEnd) {
    this.exchange = exchange;
    this.downstream = exchange.downstream();
    this.head = head;
    this.scanner = new BodyScanner(framing);
    Route.Forwarded route = (Route.Forwarded) exchange.route();
    this.events = new EventScanner(route.operation().dialect().terminator());
    this.bodyEnd = bodyEnd;
    this.pingNanos = exchange.snapshot().ssePing().toNanos();
    this.ping = pingNanos == 0 ? null : newPing(downstream.context());
  }

  private Deadline newPing(LoopContext context) {
    Deadline deadline =
        new Deadline(context.timer()) {
          @Override
          protected void expired() {
            ping(this);
          }
        };
    deadline.arm(pingNanos);
    return deadline;
  }

  /** Nothing was sent for as long as may be. Where a comment cannot stand now, it is left out. */
  private void ping(Deadline next) {
    next.arm(pingNanos);
    if (isBetweenEvents() && !terminatorSent && downstream.isWritable()) {
      send(framed(PING));
      written = false;
      downstream.flush(); // what comes of it may release this
    }
  }

  @Override
  public final Next body(ByteBuf bytes) {
    long before = events.events();
    int end = relay(bytes);
    progressed = events.events() > before;
    terminatorSent = events.isTerminated();
    hold(released ? 0 : heldBytes());
    count();
    return switch (end) {
      case BodyScanner.END -> Next.REUSE;
      case BodyScanner.MALFORMED -> {
        exchange.fail(UpstreamFailures.protocol(), End.UPSTREAM);
        yield Next.CLOSE;
      }
      case SURPLUS, FAILED -> Next.CLOSE;
      default -> Next.READ_ON;
    };
  }

  @Override
  public final boolean progressed() {
    return progressed;
  }

  private void hold(long nowBytes) {
    heldInBudget = downstream.context().budget().resize(heldInBudget, nowBytes);
  }

  /** Tells the exchange what has come so far. */
  private void count() {
    exchange.countEvents(events.events());
    if (usage.hasChanged()) {
      exchange.used(usage.usage());
    }
  }

  /**
   * Sends on what can be, and the end where it has come.
   *
   * @return {@link BodyScanner#MORE}, {@link BodyScanner#END}, {@link BodyScanner#MALFORMED},
   *     {@link #SURPLUS} or {@link #FAILED}
   */
  abstract int relay(ByteBuf bytes);

  /** How much memory that takes which is held back. */
  abstract int heldBytes();

  /** Whether a comment, framed, may stand behind what was sent. */
  abstract boolean isBetweenEvents();

  /** Lets go of what is held back. */
  abstract void releaseHeld();

  /**
   * Looks at payload for the end of an event behind which the caller may stand. Until the first
   * event there is none: comments before it wait for it, as the head does.
   *
   * @return the index just behind the last such end; -1 where there is none
   */
  final int boundary(ByteBuf in, int from, int length) {
    came = true;
    usage.scan(in, from, length);
    int boundary = events.scan(in, from, length);
    return head == null || events.events() > 0 ? boundary : -1;
  }

  /** Writes whole events, behind the head where they are the first. */
  final void send(ByteBuf bytes) {
    written = true;
    downstream.write(behindHead(bytes));
  }

  /** The bytes, behind the head where nothing was sent yet. */
  private ByteBuf behindHead(ByteBuf bytes) {
    ResponseHead unsent = head;
    if (unsent == null) {
      return bytes;
    }
    head = null;
    ByteBuf first = Answers.relayed(exchange, unsent, bodyEnd, 0);
    exchange.beginAnswer(unsent.status());
    if (Pieces.append(first, bytes)) {
      return first;
    }
    downstream.write(first);
    return bytes;
  }

  /** Whether a stream that ends here is whole; one without a byte never is. */
  final boolean mayEnd() {
    return came && events.mayEnd();
  }

  /** Writes the last bytes. */
  final int sendLast(ByteBuf bytes, boolean surplus) {
    ByteBuf last = behindHead(bytes);
    count();
    exchange.endAnswer(last);
    return surplus ? SURPLUS : BodyScanner.END;
  }

  /** The framing ended, but the stream is not whole. */
  final int failTruncated() {
    count();
    exchange.fail(UpstreamFailures.truncated(), End.UPSTREAM);
    return FAILED;
  }

  @Override
  public final void readComplete() {
    if (written) {
      written = false;
      if (ping != null && !released) {
        ping.arm(pingNanos);
      }
      downstream.flush();
    }
  }

  @Override
  public final boolean finish() {
    ByteBuf end = terminatorSent ? framingEnd() : null;
    if (end == null) {
      return false;
    }
    exchange.endAnswer(end);
    return true;
  }

  /** What ends the framing of the caller's body; null where it cannot be ended. */
  abstract @Nullable ByteBuf framingEnd();

  @Override
  public final ByteBuf lastWords(Failure failure) {
    // An error behind a terminator would contradict it; that the framing breaks off says enough.
    return terminatorSent ? Unpooled.EMPTY_BUFFER : errorWords(failure);
  }

  /** The event that tells the caller of a failure, framed. */
  abstract ByteBuf errorWords(Failure failure);

  @Override
  public final void release() {
    released = true;
    if (ping != null) {
      ping.disarm();
    }
    hold(0);
    releaseHeld();
  }

  /**
   * The event that tells the caller of a failure.
   *
   * @param withinEvent whether the caller has a part of an event: an empty line ends that first
   */
  final byte[] errorEvent(Failure failure, boolean withinEvent) {
    byte[] event = ErrorBody.event(failure, exchange.requestId(), exchange.namesEvents());
    if (!withinEvent) {
      return event;
    }
    byte[] separated = new byte[event.length + 2];
    separated[0] = '\n';
    separated[1] = '\n';
    System.arraycopy(event, 0, separated, 2, event.length);
    return separated;
  }

  /** A copy of the payload, as one chunk where the caller's body has any. */
  final ByteBuf framed(byte[] payload) {
    ByteBuf framed = downstream.alloc().buffer(payload.length + 16);
    if (bodyEnd == Answers.BodyEnd.CHUNKED) {
      writeChunk(framed, payload, 0, payload.length);
    } else {
      framed.writeBytes(payload);
    }
    return framed;
  }

  /** Writes bytes as one chunk, RFC 9112 section 7.1. */
  static void writeChunk(ByteBuf to, byte[] bytes, int from, int length) {
    to.writeCharSequence(Integer.toHexString(length), StandardCharsets.US_ASCII);
    to.writeByte('\r').writeByte('\n');
    to.writeBytes(bytes, from, length);
    to.writeByte('\r').writeByte('\n');
  }
}
