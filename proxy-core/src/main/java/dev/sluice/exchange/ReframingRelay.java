package dev.sluice.exchange;

import dev.sluice.error.Failure;
import dev.sluice.http.BodyFraming;
import dev.sluice.http.ResponseHead;
import dev.sluice.sse.BodyScanner;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Relays a stream whose framing the caller cannot be given as it is: the upstream sends no chunks,
 * or the caller speaks HTTP/1.0 and reads none. Rare, so it copies.
 */
final class ReframingRelay extends StreamRelay {

  private final boolean chunked;
  private final ByteBuf held;
  private boolean sentUnfinished;
  private boolean released;

  ReframingRelay(Exchange exchange, ResponseHead head, BodyFraming framing) {
    super(
        exchange,
        head,
        framing,
        exchange.downstream().readsChunks() ? Answers.BodyEnd.CHUNKED : Answers.BodyEnd.CLOSE);
    this.chunked = downstream.readsChunks();
    this.held = downstream.alloc().buffer(256);
  }

  @Override
  int relay(ByteBuf in) {
    try {
      int safe = 0; // bytes of what is held that may be sent
      int next;
      while ((next = scanner.next(in)) > 0 || next == BodyScanner.CHUNK_END) {
        if (next > 0) {
          int at = in.readerIndex();
          int boundary = boundary(in, at, next);
          if (boundary >= 0) {
            safe = held.readableBytes() + boundary - at;
            sentUnfinished = false;
          }
          held.writeBytes(in, next);
          scanner.took(next);
        }
      }
      if (next == BodyScanner.END) {
        return end(safe, in.isReadable());
      }
      if (held.readableBytes() - safe > MAX_HELD_BYTES) {
        safe = held.readableBytes();
        sentUnfinished = true;
      }
      if (safe > 0) {
        send(framed(safe));
        held.discardReadBytes();
      }
      return next;
    } finally {
      in.release();
    }
  }

  private int end(int safe, boolean surplus) {
    if (!mayEnd()) {
      if (safe > 0) {
        send(framed(safe));
      }
      return failTruncated();
    }
    if (held.isReadable()) {
      send(framed(held.readableBytes()));
    }
    return sendLast(framingEnd(), surplus);
  }

  @Override
  public boolean endedByClose() {
    if (!scanner.endsWithConnection()) {
      return false;
    }
    end(0, false);
    return true;
  }

  private ByteBuf framed(int length) {
    byte[] payload = new byte[length];
    held.readBytes(payload);
    return framed(payload);
  }

  @Override
  ByteBuf errorWords(Failure failure) {
    return framed(errorEvent(failure, sentUnfinished));
  }

  @Override
  ByteBuf framingEnd() {
    return chunked ? Unpooled.wrappedBuffer(LAST_CHUNK) : Unpooled.EMPTY_BUFFER;
  }

  @Override
  boolean isBetweenEvents() {
    return !sentUnfinished;
  }

  @Override
  int heldBytes() {
    return held.capacity();
  }

  @Override
  void releaseHeld() {
    if (!released) {
      released = true;
      held.release();
    }
  }
}
