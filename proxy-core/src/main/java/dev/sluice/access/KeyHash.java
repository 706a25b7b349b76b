package dev.sluice.access;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The SHA-256 of a bearer key. Keys have 192 random bits, so a fast hash without salt is enough: it
 * cannot be turned back by guessing.
 *
 * @param a bytes 0 to 7
 * @param b bytes 8 to 15
 * @param c bytes 16 to 23
 * @param d bytes 24 to 31
 */
public record KeyHash(long a, long b, long c, long d) {
  private static final ThreadLocal<MessageDigest> SHA_256 =
      ThreadLocal.withInitial(
          () -> {
            try {
              return MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException e) {
              throw new IllegalStateException("every Java platform has SHA-256", e);
            }
          });

  /** The hash of a key's bytes. */
  public static KeyHash of(byte[] key) {
    return ofDigest(SHA_256.get().digest(key));
  }

  /**
   * A hash from its 64 hexadecimal digits, in either case.
   *
   * @throws IllegalArgumentException when they are not 64 hexadecimal digits
   */
  public static KeyHash ofHex(String hex) {
    if (hex.length() != 64) {
      throw new IllegalArgumentException(
          "hex: " + hex.length() + " characters (expected: 64 hexadecimal digits)");
    }
    return ofDigest(HexFormat.of().parseHex(hex));
  }

  private static KeyHash ofDigest(byte[] digest) {
    ByteBuffer longs = ByteBuffer.wrap(digest);
    return new KeyHash(longs.getLong(), longs.getLong(), longs.getLong(), longs.getLong());
  }

  /** The hash as 64 lower-case hexadecimal digits, the form of the keys file. */
  public String toHex() {
    byte[] digest = ByteBuffer.allocate(32).putLong(a).putLong(b).putLong(c).putLong(d).array();
    return HexFormat.of().formatHex(digest);
  }

  /** Says nothing of the hash, so that no log line ever can. */
  @Override
  public String toString() {
    return "KeyHash[…]";
  }
}
