package dev.sluice.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sluice.transport.Transport;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The requests before the first request. */
class WarmupTest {
  private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(Warmup.class);

  private final Transport best = Transport.best();
  private final EventLoopGroup loops = best.loops(1, "warm-up-test");
  private final CountDownLatch released = new CountDownLatch(1);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    LOGGER.addAppender(log);
    LOGGER.setAdditive(false);
  }

  @AfterEach
  void end() throws InterruptedException {
    LOGGER.detachAppender(log);
    LOGGER.setAdditive(true);
    released.countDown();
    loops.shutdownGracefully(0, 10, TimeUnit.SECONDS);
    assertThat(loops.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void eachOfItsRequestsIsAnsweredAsItMustBe() throws Exception {
    Warmup.run(best, loops, best.upstream(), Runnable::run);

    assertThat(log.list).isEmpty();
  }

  @Test
  void aMachineTooSlowForItIsToldInOneLineAndStartsAllTheSame() throws Exception {
    Transport stuck =
        new Transport(
            best.name(),
            best.handlers(),
            best.listening(),
            () -> {
              holdTheLoop();
              return best.connecting().newChannel();
            },
            best.asking());

    Warmup.run(stuck, loops, stuck.upstream(), Runnable::run);

    assertThat(log.list)
        .singleElement()
        .satisfies(
            event -> {
              assertThat(event.getLevel()).isEqualTo(Level.WARN);
              assertThat(event.getFormattedMessage()).startsWith("warm-up: not finished");
              assertThat(event.getThrowableProxy()).isNull();
            });
  }

  private void holdTheLoop() {
    try {
      assertThat(released.await(1, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
