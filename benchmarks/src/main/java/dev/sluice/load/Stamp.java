package dev.sluice.load;

import io.netty.buffer.ByteBuf;
import java.net.ProtocolException;

/**
 * A time in an event: 12 hexadecimal digits, the low 48 bits of {@link System#nanoTime()}. They
 * come round after three days.
 */
final class Stamp {
  static final int DIGITS = 12;
  private static final long MASK = (1L << 48) - 1;

  private Stamp() {}

  static void write(ByteBuf to, int at, long nanos) {
    for (int i = 0; i < DIGITS; i++) {
      int digit = (int) (nanos >>> (4 * (DIGITS - 1 - i))) & 0xF;
      to.setByte(at + i, digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
  }

  /** How long ago the stamp was, in nanoseconds; 0 for one that is not over yet. */
  static long age(byte[] digits, int from, long nowNanos) throws ProtocolException {
    long stamp = 0;
    for (int i = from; i < from + DIGITS; i++) {
      int digit = Character.digit(digits[i], 16);
      if (digit < 0) {
        throw new ProtocolException("stamp: no time (expected: 12 hexadecimal digits)");
      }
      stamp = stamp << 4 | digit;
    }
    long age = (nowNanos - stamp) & MASK;
    return age > (MASK >>> 1) ? 0 : age;
  }
}
