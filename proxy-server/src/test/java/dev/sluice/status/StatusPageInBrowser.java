package dev.sluice.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.page.LiveEvents;
import dev.sluice.page.PageListener;
import dev.sluice.testing.Browser;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The status page as people see it, after a day that it has seen. */
class StatusPageInBrowser {
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final FakeSource source = new FakeSource();
  private final Instant[] now = {Instant.now().truncatedTo(ChronoUnit.SECONDS)};
  private final Board board = new Board(source, () -> now[0]);
  private PageListener listener;
  private Browser browser;

  @BeforeEach
  void open() throws IOException {
    EventLoop loop = group.next();
    KeyCheck keys =
        new KeyCheck(source, new KeyAttempts(System::nanoTime), () -> now[0], loop, counted -> {});
    listener =
        PageListener.open(
            "status",
            loop,
            NioServerSocketChannel.class,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            new StatusRoutes(board::json, keys),
            new LiveEvents(
                loop, Map.of("status", () -> CompletableFuture.completedFuture(board.json())), 4),
            PageListener.Bounds.of(16));
    browser = Browser.start();
  }

  @AfterEach
  void close() {
    browser.close();
    listener.close();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private void seeDay() {
    Instant end = now[0];
    Instant from = end.minus(Duration.ofHours(24));
    for (now[0] = from; !now[0].isAfter(end); now[0] = now[0].plusSeconds(30)) {
      long minute = ChronoUnit.MINUTES.between(from, now[0]);
      source.model("small", Availability.AVAILABLE);
      source.model(
          "openai/gpt-oss-120b",
          in(minute, 400, 425)
              ? Availability.UNAVAILABLE
              : in(minute, 380, 500) || minute > 1400
                  ? Availability.DEGRADED
                  : Availability.AVAILABLE);
      source.model(
          "llama-3.1-8b",
          in(minute, 200, 260) || minute > 1420 ? Availability.MAINTENANCE : Availability.AVAILABLE,
          minute > 1420 ? end.plus(Duration.ofMinutes(45)) : null);
      if (minute > 700) {
        source.model(
            "experimental/a-model-with-a-long-name-that-nobody-would-choose-for-a-telephone",
            minute > 1425 ? Availability.UNAVAILABLE : Availability.AVAILABLE);
      }
      board.see();
    }
    now[0] = end;
  }

  private static boolean in(long minute, long from, long to) {
    return minute >= from && minute < to;
  }

  @Test
  void aDayIsToldInWordsAndBars() {
    seeDay();
    source.key("sk-good", FakeSource.PRO, true, null, false);
    browser.open("http://127.0.0.1:" + listener.address().getPort() + "/");

    browser.awaitText(
        "#summary", "Of 4 models 1 is unavailable, 1 is in maintenance, 1 is degraded.");
    browser.awaitText("#live", "Live");
    assertThat(browser.text("#models > li:nth-child(1)"))
        .contains("small", "available", "No incidents in the last 24 hours.", "100 % answered");
    assertThat(browser.text("#models > li:nth-child(2)")).contains("degraded", "incidents in");
    assertThat(browser.text("#models > li:nth-child(3)")).contains("maintenance until ");
    assertThat(
            browser.script("return document.querySelectorAll('#models > li:first-child i').length"))
        .isEqualTo(96);
    browser.script("document.querySelector('#models > li:nth-child(2) details').open = true");
    browser.script("document.querySelector('#key').focus()");
    browser.type("sk-good\uE007");
    browser.awaitText("#key-answer", "This key is valid.");
    assertThat(browser.text("#key-answer")).contains("Plan", "pro", "42 of 100", "3 of 10");
    browser.screenshots("status");
    assertThat(browser.console()).isEmpty();
  }
}
