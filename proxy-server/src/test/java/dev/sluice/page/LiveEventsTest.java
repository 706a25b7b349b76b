package dev.sluice.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is sent to open pages, and when. */
class LiveEventsTest {
  /**
   * Its loop, whose time stands still, is the listener's; the pages are on channels of their own.
   */
  private final EmbeddedChannel loop = new EmbeddedChannel();

  private final Map<String, String> parts = new LinkedHashMap<>(Map.of("one", "{\"a\":1}\n"));
  private final Map<String, CompletableFuture<String>> later = new LinkedHashMap<>();
  private int asked;

  LiveEventsTest() {
    loop.freezeTime();
  }

  @AfterEach
  void close() {
    loop.close();
  }

  private LiveEvents events(String... names) {
    Map<String, Supplier<CompletionStage<String>>> suppliers = new LinkedHashMap<>();
    for (String name : names) {
      suppliers.put(
          name,
          () -> {
            asked++;
            CompletableFuture<String> answer = later.get(name);
            return answer == null
                ? CompletableFuture.completedFuture(parts.getOrDefault(name, ""))
                : answer;
          });
    }
    return new LiveEvents(loop.eventLoop(), suppliers, 2);
  }

  private static EmbeddedChannel listen(LiveEvents events) {
    EmbeddedChannel page = new EmbeddedChannel();
    events.add(page, page.newSucceededFuture());
    return page;
  }

  private void pass(int seconds) {
    for (int i = 0; i < seconds; i++) {
      loop.advanceTimeBy(1, TimeUnit.SECONDS);
      loop.runScheduledPendingTasks();
      loop.runPendingTasks();
    }
  }

  private static String sent(EmbeddedChannel page) {
    page.runPendingTasks();
    StringBuilder sent = new StringBuilder();
    for (ByteBuf bytes = page.readOutbound(); bytes != null; bytes = page.readOutbound()) {
      sent.append(bytes.toString(UTF_8));
      bytes.release();
    }
    return sent.toString();
  }

  @Test
  void whoBeginsToListenIsSentEverythingAtOnce() {
    parts.put("two", "[\n1\n]\n");
    EmbeddedChannel page = listen(events("one", "two"));

    assertThat(sent(page))
        .isEqualTo("event: one\ndata: {\"a\":1}\n\nevent: two\ndata: [\ndata: 1\ndata: ]\n\n");
  }

  @Test
  void afterThatOnlyWhatChangedIsSent() {
    LiveEvents events = events("one", "two");
    parts.put("two", "2");
    EmbeddedChannel page = listen(events);
    sent(page);
    pass(3);
    assertThat(sent(page)).isEmpty();

    parts.put("two", "3");
    pass(1);
    assertThat(sent(page)).isEqualTo("event: two\ndata: 3\n\n");
  }

  @Test
  void nothingIsLookedAtWhileNobodyListens() {
    LiveEvents events = events("one");
    pass(100);
    assertThat(asked).isZero();

    EmbeddedChannel page = listen(events);
    assertThat(asked).isEqualTo(1);
    page.close();
    pass(100);
    assertThat(asked).isEqualTo(1);
    assertThat(events.listening()).isZero();
  }

  @Test
  void inSilenceACommentShowsThatThePageIsStillThere() {
    EmbeddedChannel page = listen(events("one"));
    sent(page);
    pass(14);
    assertThat(sent(page)).isEmpty();
    pass(1);
    assertThat(sent(page)).isEqualTo(": ping\n\n");
  }

  @Test
  void aPartThatTakesItsTimeIsAskedForOnce() {
    LiveEvents events = events("one");
    CompletableFuture<String> answer = new CompletableFuture<>();
    later.put("one", answer);
    EmbeddedChannel page = listen(events);
    pass(5);
    assertThat(asked).isEqualTo(1);

    answer.complete("late");
    pass(0);
    assertThat(sent(page)).isEqualTo("event: one\ndata: late\n\n");
  }

  @Test
  void aPartThatFailsIsAskedForAgainAndTheOthersAreTold() {
    LiveEvents events = events("one", "two");
    parts.put("two", "2");
    later.put("one", CompletableFuture.failedFuture(new IllegalStateException("not now")));
    EmbeddedChannel page = listen(events);
    assertThat(sent(page)).isEqualTo("event: two\ndata: 2\n\n");

    later.clear();
    pass(1);
    assertThat(sent(page)).isEqualTo("event: one\ndata: {\"a\":1}\n\n");
  }

  @Test
  void moreThanTheBoundMayNotListen() {
    LiveEvents events = events("one");
    listen(events);
    assertThat(events.hasRoom()).isTrue();
    EmbeddedChannel second = listen(events);
    assertThat(events.hasRoom()).isFalse();
    second.close();
    assertThat(events.hasRoom()).isTrue();
  }

  @Test
  void whoTakesNothingMissesWhatIsBetweenAndIsDroppedInTheEnd() {
    LiveEvents events = events("one");
    Stalling stalling = new Stalling();
    EmbeddedChannel slow = new EmbeddedChannel(stalling);
    events.add(slow, slow.newSucceededFuture());
    assertThat(stalling.writes).isEqualTo(1);
    for (int i = 0; i < 14; i++) {
      parts.put("one", "change " + i);
      pass(1);
    }
    assertThat(stalling.writes).isEqualTo(1);
    assertThat(slow.isOpen()).isTrue();
    pass(1);
    assertThat(slow.isOpen()).isFalse();
    assertThat(events.listening()).isZero();
  }

  @Test
  void whoTakesItInTheEndIsSentTheNewest() {
    LiveEvents events = events("one");
    Stalling stalling = new Stalling();
    EmbeddedChannel slow = new EmbeddedChannel(stalling);
    events.add(slow, slow.newSucceededFuture());
    for (int i = 0; i < 10; i++) {
      parts.put("one", "change " + i);
      pass(1);
    }
    stalling.take();
    assertThat(stalling.writes).isEqualTo(2);
    assertThat(stalling.last).isEqualTo("event: one\ndata: change 9\n\n");
    stalling.take();
    pass(10);
    assertThat(stalling.writes).isEqualTo(2);
    assertThat(slow.isOpen()).isTrue();
  }

  @Test
  void noPartWaitsForAnotherThatChangesAllTheTime() {
    LiveEvents events = events("one", "two");
    Stalling stalling = new Stalling();
    EmbeddedChannel page = new EmbeddedChannel(stalling);
    ChannelPromise head = page.newPromise();
    parts.put("two", "2");
    events.add(page, head);
    assertThat(stalling.writes).isZero();
    head.setSuccess();
    assertThat(stalling.last).isEqualTo("event: one\ndata: {\"a\":1}\n\nevent: two\ndata: 2\n\n");
    for (int i = 0; i < 3; i++) {
      parts.put("one", "change " + i);
      parts.put("two", "change " + i);
      stalling.take();
      pass(1);
      assertThat(stalling.last).isEqualTo("event: one\ndata: change " + i + "\n\n");
      stalling.take();
      assertThat(stalling.last).isEqualTo("event: two\ndata: change " + i + "\n\n");
    }
  }

  @Test
  void nothingIsSentAfterItsEnd() {
    LiveEvents events = events("one");
    EmbeddedChannel page = listen(events);
    sent(page);
    events.close();
    parts.put("one", "changed");
    pass(20);
    assertThat(sent(page)).isEmpty();
  }

  /** A client that takes nothing until it is told to. */
  private static final class Stalling extends ChannelOutboundHandlerAdapter {
    int writes;
    String last = "";
    private @Nullable ChannelPromise untaken;

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
      writes++;
      last = ((ByteBuf) message).toString(UTF_8);
      untaken = promise;
      ReferenceCountUtil.release(message);
    }

    void take() {
      Objects.requireNonNull(untaken).setSuccess();
    }
  }
}
