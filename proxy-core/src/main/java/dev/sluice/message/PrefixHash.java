package dev.sluice.message;

import io.netty.buffer.ByteBuf;

/**
 * A hash of the first messages of a request. All requests of one conversation have the same, and so
 * have all processes: what is hashed are the bytes as they came, where they lie.
 */
public final class PrefixHash {
  /*
   * Eight bytes a step: a multiplication and a rotation, as in the short-input loops of xxHash and
   * wyhash, and the finalizer of MurmurHash3 at the end. A caller who makes two prefixes collide
   * wins nothing but a place beside another.
   */

  /** The hash of no prefix; of no other one. */
  public static final long NONE = 0;

  /** More would tell hardly any two conversations apart; the length is hashed, too. */
  static final int MOST_BYTES = 64 << 10;

  private static final long FIRST = 0x9e3779b97f4a7c15L;
  private static final long SECOND = 0xc2b2ae3d27d4eb4fL;

  private PrefixHash() {}

  /**
   * The hash of a range of a body, {@link #NONE} of an empty one. Moves no index of the buffer.
   *
   * @param body the body; the range counts from its reader index
   */
  public static long of(ByteBuf body, int from, int to) {
    int length = to - from;
    if (length == 0) {
      return NONE;
    }
    int at = body.readerIndex() + from;
    int end = at + Math.min(length, MOST_BYTES);
    long hash = length * FIRST;
    for (; at <= end - Long.BYTES; at += Long.BYTES) {
      hash = step(hash, body.getLongLE(at));
    }
    long rest = 0;
    for (; at < end; at++) {
      rest = rest << Byte.SIZE | body.getUnsignedByte(at);
    }
    hash = step(hash, rest);
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    hash ^= hash >>> 33;
    return hash == NONE ? 1 : hash;
  }

  private static long step(long hash, long eight) {
    return Long.rotateLeft((hash ^ eight) * FIRST, 29) * SECOND;
  }
}
