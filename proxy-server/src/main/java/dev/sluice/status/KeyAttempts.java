package dev.sluice.status;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Slows down those who try keys: each address may be wrong a few times, and then once in a while;
 * all addresses together more often. Of IPv6 the first 64 bits are the address. One thread at a
 * time.
 *
 * <table>
 *   <caption>Bounds</caption>
 *   <tr><td>wrong keys of an address</td><td>5, and one more every 10 s</td></tr>
 *   <tr><td>wrong keys of all addresses</td><td>100, and ten more every second</td></tr>
 *   <tr><td>addresses that are remembered</td><td>10 000; the longest silent is forgotten</td></tr>
 * </table>
 */
final class KeyAttempts {
  /*
   * The generic cell rate algorithm: of each address only the instant is kept at which all that it
   * may do will be its own again. An attempt moves it on by one interval, and is allowed while it
   * lies no more than so many intervals ahead. A flood from many addresses makes those it evicts
   * forgotten, which is what the bound over all of them is for.
   */
  static final int AT_ONCE = 5;
  static final int ALL_AT_ONCE = 100;
  static final int MAX_ADDRESSES = 10_000;

  private static final long EACH_NANOS = Duration.ofSeconds(10).toNanos();
  private static final long ALL_EACH_NANOS = Duration.ofMillis(100).toNanos();

  private final LongSupplier nanoTime;
  private final Map<Long, Long> restedNanos =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
          return size() > MAX_ADDRESSES;
        }
      };
  private long allRestedNanos;

  /**
   * Nobody has tried yet.
   *
   * @param nanoTime the clock, as {@link System#nanoTime()}
   */
  KeyAttempts(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.allRestedNanos = nanoTime.getAsLong();
  }

  /**
   * Counts an attempt as wrong, until it is {@link #right}.
   *
   * @return 0 where it may be made, else the nanoseconds to wait, and nothing was counted
   */
  long tryBegin(SocketAddress peer) {
    long now = nanoTime.getAsLong();
    long address = address(peer);
    long rested = later(restedNanos.getOrDefault(address, now), now);
    long allRested = later(allRestedNanos, now);
    long wait =
        Math.max(
            rested - now - (AT_ONCE - 1) * EACH_NANOS,
            allRested - now - (ALL_AT_ONCE - 1) * ALL_EACH_NANOS);
    if (wait > 0) {
      return wait;
    }
    restedNanos.put(address, rested + EACH_NANOS);
    allRestedNanos = allRested + ALL_EACH_NANOS;
    return 0;
  }

  /** The attempt that was begun was right: it does not count. */
  void right(SocketAddress peer) {
    restedNanos.computeIfPresent(address(peer), (address, rested) -> rested - EACH_NANOS);
    allRestedNanos -= ALL_EACH_NANOS;
  }

  /** How many addresses are remembered. */
  int addresses() {
    return restedNanos.size();
  }

  private static long later(long nanos, long now) {
    return nanos - now > 0 ? nanos : now;
  }

  private static long address(SocketAddress peer) {
    InetAddress address = peer instanceof InetSocketAddress inet ? inet.getAddress() : null;
    if (address == null) {
      return 0;
    }
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    return address instanceof Inet4Address ? bytes.getInt() : bytes.getLong();
  }
}
