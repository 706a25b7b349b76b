package dev.sluice.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.uring.IoUring;
import java.lang.module.ModuleDescriptor.Version;
import org.junit.jupiter.api.Test;

class TransportTest {
  @Test
  void itIsTheBestThatThisMachineHas() {
    String best = Transport.bestHere().name();

    assertThat(best)
        .isEqualTo(hasNewIoUring() ? "io_uring" : Epoll.isAvailable() ? "epoll" : "nio");
  }

  private static boolean hasNewIoUring() {
    return IoUring.isAvailable()
        && Version.parse(System.getProperty("os.version")).compareTo(Version.parse("6.15")) >= 0;
  }

  @Test
  void ioUringAsksForEachChangeAndEachConnection() {
    Transport.bestHere();

    assertThat(IoUring.isPollAddMultishotEnabled()).isFalse();
    assertThat(IoUring.isAcceptMultishotEnabled()).isFalse();
  }

  @Test
  void itIsTheOneThatIsNamed() {
    assertThat(Transport.of("nio").name()).isEqualTo("nio");
    assertNamed("epoll", Epoll.isAvailable());
    assertNamed("io_uring", IoUring.isAvailable());
  }

  private static void assertNamed(String name, boolean available) {
    if (available) {
      assertThat(Transport.of(name).name()).isEqualTo(name);
    } else {
      assertThatThrownBy(() -> Transport.of(name))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("sluice.transport: " + name + " is not to be had here");
    }
  }

  @Test
  void aNameThatIsNoneIsRefused() {
    assertThatThrownBy(() -> Transport.of("kqueue"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("sluice.transport: kqueue (expected: io_uring, epoll or nio)");
  }
}
