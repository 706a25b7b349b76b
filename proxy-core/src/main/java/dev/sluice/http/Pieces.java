package dev.sluice.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.ByteToMessageDecoder;
import org.jspecify.annotations.Nullable;

/** Joins the pieces in which a stream of bytes comes, where they have to be read as one. */
public final class Pieces {
  private Pieces() {}

  /**
   * What was left over, and behind it the next piece. Takes both buffers. Holds no more than what
   * is still to be read: bytes that have been read are let go of, however long the stream.
   *
   * @param left what was left of the pieces before; null for nothing
   */
  public static ByteBuf join(ByteBufAllocator alloc, @Nullable ByteBuf left, ByteBuf piece) {
    if (left == null) {
      return piece;
    }
    if (left.refCnt() == 1) {
      left.discardSomeReadBytes(); // while no slice of them is on its way to somebody
    }
    return ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(alloc, left, piece);
  }
}
