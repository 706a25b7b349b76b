package dev.sluice.exchange;

import dev.sluice.error.Failure;
import dev.sluice.http.BodyFraming;
import dev.sluice.http.Pieces;
import dev.sluice.http.ResponseHead;
import dev.sluice.sse.BodyScanner;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Relays a chunked stream to an HTTP/1.1 caller: the upstream's own bytes, chunk framing and all.
 */
final class PassThroughRelay extends StreamRelay {
  /*
   * The upstream's chunk framing is the caller's, so at any point where the relay stops it must know
   * what the caller's reader of chunks expects next: that is what lets it add an error event of its
   * own. "Safe" is the point up to which bytes may be sent: the end of an event, and behind it the
   * end of its chunk where that has come whole.
   *
   *   size CRLF  data: …\n\n  data: …\n\n  CRLF  size CRLF  data: …\n
   *                                           ^ safe        ^ held back until the event is whole
   *
   * In the common case nothing is held, an event fills a chunk and a chunk a read, and the buffer
   * that was read is the buffer that is written. What is held is joined with what comes next.
   */
  private static final int MAX_FILL_BYTES = 64 << 10;

  /** Between two chunks: the caller's reader expects a chunk size. */
  private static final long BETWEEN_CHUNKS = -1;

  private @Nullable ByteBuf held;

  /** Payload bytes since the last event boundary. */
  private long unfinishedBytes;

  /** How much payload the caller's reader still expects of a chunk at the safe point. */
  private long leftOfChunk = BETWEEN_CHUNKS;

  /** Bytes up to the end of the last whole chunk, of those that are held. */
  private int heldChunkBytes;

  /** Whether a part of an event was sent. */
  private boolean sentUnfinished;

  PassThroughRelay(Exchange exchange, ResponseHead head, BodyFraming framing) {
    super(exchange, head, framing, Answers.BodyEnd.CHUNKED);
  }

  @Override
  int relay(ByteBuf piece) {
    int heldBytes = held == null ? 0 : held.readableBytes();
    ByteBuf in = Pieces.join(held, piece);
    held = null;
    int start = in.readerIndex();
    int safe = start;
    int chunksEnd = start + heldChunkBytes;
    in.skipBytes(heldBytes);
    int next;
    while ((next = scanner.next(in)) > 0 || next == BodyScanner.CHUNK_END) {
      int at = in.readerIndex();
      if (next == BodyScanner.CHUNK_END) {
        chunksEnd = at;
        if (unfinishedBytes == 0) {
          safe = at;
          leftOfChunk = BETWEEN_CHUNKS;
        }
      } else {
        int boundary = boundary(in, at, next);
        in.readerIndex(at + next);
        scanner.took(next);
        unfinishedBytes = boundary < 0 ? unfinishedBytes + next : at + next - boundary;
        if (boundary >= 0) {
          safe = boundary;
          leftOfChunk = scanner.remaining() + unfinishedBytes;
          sentUnfinished = false;
        }
      }
    }
    if (next == BodyScanner.END) {
      return end(in, start, safe, chunksEnd);
    }
    if (next == BodyScanner.MORE && in.writerIndex() - safe > MAX_HELD_BYTES) {
      safe = sendUnfinished(in, safe, chunksEnd);
    }
    heldChunkBytes = Math.max(0, chunksEnd - safe);
    split(in, start, safe);
    return next;
  }

  /**
   * The event is too large to be held: what stands before the framing that is under way, if any is,
   * is sent. Framing is short, so what stays held is, too.
   */
  private int sendUnfinished(ByteBuf in, int safe, int chunksEnd) {
    if (scanner.remaining() > 0) {
      leftOfChunk = scanner.remaining();
      sentUnfinished = true;
      return in.writerIndex();
    }
    if (chunksEnd > safe) {
      leftOfChunk = BETWEEN_CHUNKS;
      sentUnfinished = true;
      return chunksEnd;
    }
    return safe; // behind the payload of a chunk: its line end decides
  }

  /** Sends the bytes before the safe point and holds those behind it. Takes the buffer. */
  private void split(ByteBuf in, int start, int safe) {
    if (safe == in.writerIndex()) {
      if (safe > start) {
        send(in.readerIndex(start));
      } else {
        in.release();
      }
      return;
    }
    held = in.readerIndex(safe);
    if (safe > start) {
      send(in.retainedSlice(start, safe - start));
    }
  }

  /**
   * Sends what is left, whole event or not, and the last chunk without trailers; of a stream that
   * is not whole, whole events alone.
   */
  private int end(ByteBuf in, int start, int safe, int chunksEnd) {
    if (!mayEnd()) {
      if (safe > start) {
        send(in.retainedSlice(start, safe - start));
      }
      in.release();
      return failTruncated();
    }
    boolean surplus = in.isReadable();
    boolean plain = in.readerIndex() - chunksEnd == LAST_CHUNK.length;
    if (plain && !surplus) {
      return sendLast(in.readerIndex(start), false);
    }
    if (chunksEnd > start) {
      send(in.retainedSlice(start, chunksEnd - start));
    }
    in.release();
    return sendLast(Unpooled.wrappedBuffer(LAST_CHUNK), surplus);
  }

  @Override
  public boolean endedByClose() {
    return false; // a chunked body ends with its last chunk
  }

  @Override
  ByteBuf errorWords(Failure failure) {
    byte[] event = errorEvent(failure, sentUnfinished);
    ByteBuf words = downstream.alloc().buffer(event.length + 32);
    // The caller's reader may stand within a chunk of the upstream's: the event fills it first.
    int inChunk = (int) Math.min(Math.max(leftOfChunk, 0), event.length);
    words.writeBytes(event, 0, inChunk);
    if (endChunk(words, inChunk) && inChunk < event.length) {
      writeChunk(words, event, inChunk, event.length - inChunk);
    }
    return words;
  }

  @Override
  @Nullable ByteBuf framingEnd() {
    ByteBuf end = downstream.alloc().buffer(32);
    if (!endChunk(end, 0)) {
      end.release();
      return null;
    }
    return end.writeBytes(LAST_CHUNK);
  }

  /**
   * Ends the chunk within which the caller's reader stands, if it does, with empty lines. They mean
   * nothing, and a reader that waits for whole chunks has one.
   *
   * @param filled how many bytes of it the buffer has already
   * @return false, and nothing written, where more is left of the chunk than is worth filling
   */
  private boolean endChunk(ByteBuf out, int filled) {
    if (leftOfChunk == BETWEEN_CHUNKS) {
      return true;
    }
    if (leftOfChunk - filled > MAX_FILL_BYTES) {
      return false;
    }
    for (long i = leftOfChunk - filled; i > 0; i--) {
      out.writeByte('\n');
    }
    out.writeByte('\r').writeByte('\n');
    return true;
  }

  @Override
  boolean isBetweenEvents() {
    return leftOfChunk == BETWEEN_CHUNKS && !sentUnfinished;
  }

  @Override
  int heldBytes() {
    return held == null ? 0 : held.capacity();
  }

  @Override
  void releaseHeld() {
    if (held != null) {
      held.release();
      held = null;
    }
  }
}
