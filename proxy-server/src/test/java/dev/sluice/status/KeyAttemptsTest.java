package dev.sluice.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How soon who tries keys may try another. */
class KeyAttemptsTest {
  private static final SocketAddress ONE = peer("192.0.2.1");
  private static final SocketAddress OTHER = peer("192.0.2.2");

  private long nowNanos = Long.MAX_VALUE - 1000; // clocks overflow
  private final KeyAttempts attempts = new KeyAttempts(() -> nowNanos);

  private static SocketAddress peer(String address) {
    return new InetSocketAddress(NetUtil.createInetAddressFromIpAddressString(address), 4711);
  }

  private void exhaust(SocketAddress peer) {
    for (int i = 0; i < KeyAttempts.AT_ONCE; i++) {
      assertThat(attempts.tryBegin(peer)).isZero();
    }
  }

  @Test
  void fiveMayBeWrongAtOnceThenOneEveryTenSeconds() {
    exhaust(ONE);
    assertThat(attempts.tryBegin(ONE)).isEqualTo(Duration.ofSeconds(10).toNanos());
    nowNanos += Duration.ofSeconds(10).toNanos() - 1;
    assertThat(attempts.tryBegin(ONE)).isEqualTo(1);
    nowNanos += 1;
    assertThat(attempts.tryBegin(ONE)).isZero();
    assertThat(attempts.tryBegin(ONE)).isEqualTo(Duration.ofSeconds(10).toNanos());
  }

  @Test
  void whoRestsMayBeWrongFiveTimesAgainAndNoMore() {
    exhaust(ONE);
    nowNanos += Duration.ofHours(10).toNanos();
    exhaust(ONE);
    assertThat(attempts.tryBegin(ONE)).isPositive();
  }

  @Test
  void whoIsRightIsNotSlowedDown() {
    for (int i = 0; i < 1000; i++) {
      assertThat(attempts.tryBegin(ONE)).isZero();
      attempts.right(ONE);
    }
    exhaust(ONE);
  }

  @Test
  void oneAddressDoesNotSlowAnotherDown() {
    exhaust(ONE);
    assertThat(attempts.tryBegin(ONE)).isPositive();
    assertThat(attempts.tryBegin(OTHER)).isZero();
  }

  @Test
  void ofVersionSixTheNetworkIsTheAddress() {
    exhaust(peer("2001:db8:1:2::1"));
    assertThat(attempts.tryBegin(peer("2001:db8:1:2:ffff::2"))).isPositive();
    assertThat(attempts.tryBegin(peer("2001:db8:1:3::1"))).isZero();
  }

  @Test
  void allTogetherAreSlowedDownToo() {
    for (int i = 0; i < KeyAttempts.ALL_AT_ONCE; i++) {
      assertThat(attempts.tryBegin(peer("10.0.0." + i))).isZero();
    }
    assertThat(attempts.tryBegin(ONE)).isEqualTo(Duration.ofMillis(100).toNanos());
    nowNanos += Duration.ofMillis(100).toNanos();
    assertThat(attempts.tryBegin(ONE)).isZero();
    assertThat(attempts.tryBegin(OTHER)).isPositive();
  }

  @Test
  void theAddressesThatAreRememberedAreBounded() {
    for (int i = 0; i < 2 * KeyAttempts.MAX_ADDRESSES; i++) {
      nowNanos += Duration.ofMillis(100).toNanos();
      assertThat(attempts.tryBegin(peer("10." + i / 65536 + "." + i / 256 % 256 + "." + i % 256)))
          .isZero();
    }
    assertThat(attempts.addresses()).isEqualTo(KeyAttempts.MAX_ADDRESSES);
  }

  @Test
  void whatHasNoAddressIsOne() {
    exhaust(InetSocketAddress.createUnresolved("nowhere", 1));
    assertThat(attempts.tryBegin(InetSocketAddress.createUnresolved("elsewhere", 2))).isPositive();
  }
}
