package dev.sluice.exchange;

import dev.sluice.error.ErrorBody;
import dev.sluice.error.Failure;
import dev.sluice.http.BodyFraming;
import dev.sluice.http.ResponseHead;
import dev.sluice.sse.BodyScanner;
import dev.sluice.sse.EventScanner;
import dev.sluice.upstream.AnswerHandler.Next;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * Sends a stream of events on as it comes, whole events at a time, so that whatever happens the
 * caller stands on an event boundary when it must be told. The head is sent with the first event:
 * an upstream that fails before it has one still gives a real 502.
 */
abstract class StreamRelay implements AnswerBody {
  /**
   * Most bytes of an unfinished event that are held back, 64 KiB. Past it they are sent on, and a
   * stream that then breaks off within that event ends with a broken event before the error event.
   */
  static final int MAX_HELD_BYTES = 64 << 10;

  /** The end of a chunked body, without trailers. */
  static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  final Exchange exchange;
  final BodyScanner scanner;
  final EventScanner events = new EventScanner();
  private final ResponseHead head;
  private final Answers.BodyEnd bodyEnd;
  private boolean begun;
  private boolean written;

  StreamRelay(Exchange exchange, ResponseHead head, BodyFraming framing, Answers.BodyEnd bodyEnd) {
    this.exchange = exchange;
    this.head = head;
    this.scanner = new BodyScanner(framing);
    this.bodyEnd = bodyEnd;
  }

  @Override
  public final Next body(ByteBuf bytes) {
    int end = relay(bytes);
    exchange.countEvents(events.events());
    return switch (end) {
      case BodyScanner.END -> Next.REUSE;
      case BodyScanner.MALFORMED -> {
        exchange.fail(UpstreamFailures.protocol(), End.UPSTREAM);
        yield Next.CLOSE;
      }
      case SURPLUS, EMPTY -> Next.CLOSE;
      default -> Next.READ_ON;
    };
  }

  /** The answer ended, but bytes came behind it. */
  static final int SURPLUS = -10;

  /** The answer ended without an event; the exchange has failed. */
  static final int EMPTY = -11;

  /**
   * Sends on what can be, and the end where it has come.
   *
   * @return {@link BodyScanner#MORE}, {@link BodyScanner#END}, {@link BodyScanner#MALFORMED},
   *     {@link #SURPLUS} or {@link #EMPTY}
   */
  abstract int relay(ByteBuf bytes);

  /** Writes whole events, behind the head where they are the first. */
  final void send(ByteBuf bytes) {
    if (!begun) {
      begun = true;
      exchange.beginAnswer(head.status(), Answers.relayed(exchange, head, bodyEnd, 0));
    }
    written = true;
    exchange.downstream().write(bytes);
  }

  /** Writes the last bytes; an answer without any is no answer. */
  final int sendLast(ByteBuf bytes, boolean surplus) {
    if (!begun) {
      if (!bytes.isReadable()) {
        bytes.release();
        exchange.fail(UpstreamFailures.closed(), End.UPSTREAM);
        return EMPTY;
      }
      begun = true;
      exchange.beginAnswer(head.status(), Answers.relayed(exchange, head, bodyEnd, 0));
    }
    exchange.countEvents(events.events());
    exchange.endAnswer(bytes);
    return surplus ? SURPLUS : BodyScanner.END;
  }

  final boolean begun() {
    return begun;
  }

  @Override
  public final void readComplete() {
    if (written) {
      written = false;
      exchange.downstream().flush();
    }
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

  /** Writes bytes as one chunk, RFC 9112 section 7.1. */
  static void writeChunk(ByteBuf to, byte[] bytes, int from, int length) {
    to.writeCharSequence(Integer.toHexString(length), StandardCharsets.US_ASCII);
    to.writeByte('\r').writeByte('\n');
    to.writeBytes(bytes, from, length);
    to.writeByte('\r').writeByte('\n');
  }
}
