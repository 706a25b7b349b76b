package dev.sluice.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.FastThreadLocal;
import org.jspecify.annotations.Nullable;

/** Joins the pieces in which a stream of bytes comes, where they have to be read as one. */
public final class Pieces {
  /** Copying this much costs about as much as a second buffer does. */
  private static final int MAX_APPENDED_BYTES = 4 << 10;

  private static final FastThreadLocal<byte[]> COPY =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[MAX_APPENDED_BYTES];
        }
      };

  private Pieces() {}

  /**
   * What was left over, and behind it the next piece. Takes both buffers. Holds no more than what
   * is still to be read: bytes that have been read are let go of, however long the stream.
   *
   * @param left what was left of the pieces before; null for nothing
   */
  public static ByteBuf join(@Nullable ByteBuf left, ByteBuf piece) {
    if (left == null) {
      return piece;
    }
    if (left.refCnt() == 1) {
      left.discardSomeReadBytes(); // while no slice of them is on its way to somebody
    }
    return ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(left.alloc(), left, piece);
  }

  /** How much room a head needs behind it for a body of so many bytes, see {@link #append}. */
  public static int room(int bodyBytes) {
    return bodyBytes > MAX_APPENDED_BYTES ? 0 : bodyBytes;
  }

  /**
   * Copies a body behind its head where it is small: one buffer costs less to write than two. Takes
   * the body where it does.
   *
   * @return whether the head has both now
   */
  public static boolean append(ByteBuf head, ByteBuf body) {
    if (body.readableBytes() > MAX_APPENDED_BYTES) {
      return false;
    }
    // From buffer to buffer the pooled ones make an object for each side.
    byte[] copy = COPY.get();
    int bytes = body.readableBytes();
    body.readBytes(copy, 0, bytes);
    head.writeBytes(copy, 0, bytes);
    body.release();
    return true;
  }
}
