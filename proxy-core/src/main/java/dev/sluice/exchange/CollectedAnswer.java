package dev.sluice.exchange;

import dev.sluice.error.Failure;
import dev.sluice.http.BodyFraming;
import dev.sluice.sse.BodyScanner;
import dev.sluice.upstream.AnswerHandler.Next;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * An answer's body that is held whole before anything of it is told to the caller. The exchange
 * lets go of it when it has ended: until then the bytes are on their way.
 */
abstract class CollectedAnswer implements AnswerBody {
  final Exchange exchange;
  final HeldBody held;
  private final BodyScanner scanner;

  CollectedAnswer(Exchange exchange, BodyFraming framing, int maxBytes) {
    this.exchange = exchange;
    this.scanner = new BodyScanner(framing);
    this.held = exchange.holdAnswer(maxBytes);
  }

  @Override
  public final Next body(ByteBuf bytes) {
    try {
      while (true) {
        int next = scanner.next(bytes);
        if (next > 0) {
          HeldBody.Added added = held.add(bytes.readRetainedSlice(next));
          scanner.took(next);
          if (added != HeldBody.Added.OK) {
            tooMuch(added);
            return Next.CLOSE;
          }
        } else if (next == BodyScanner.END) {
          // Read before the answer is dealt with: a byte too many is no part of it.
          Next after = bytes.isReadable() ? Next.CLOSE : Next.REUSE;
          whole();
          return after;
        } else if (next == BodyScanner.MORE) {
          return Next.READ_ON;
        } else if (next == BodyScanner.MALFORMED) {
          broken(UpstreamFailures.protocol());
          return Next.CLOSE;
        }
      }
    } finally {
      bytes.release();
    }
  }

  @Override
  public final boolean endedByClose() {
    if (!scanner.endsWithConnection()) {
      return false;
    }
    whole();
    return true;
  }

  /** The whole body is held. */
  abstract void whole();

  /** The body is larger than may be held. */
  abstract void tooMuch(HeldBody.Added why);

  /** The body's framing is broken. */
  abstract void broken(Failure failure);

  @Override
  public final ByteBuf lastWords(Failure failure) {
    return Unpooled.EMPTY_BUFFER; // nothing was sent before the body was whole
  }
}
