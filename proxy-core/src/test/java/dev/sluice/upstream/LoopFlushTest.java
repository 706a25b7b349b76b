package dev.sluice.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Bytes;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopFlushTest {
  private final EmbeddedChannel loop = new EmbeddedChannel();
  private final LoopFlush flush = new LoopFlush(loop.eventLoop());
  private final List<EmbeddedChannel> flushed = new ArrayList<>();
  private Runnable whenFlushed = () -> {};

  @AfterEach
  void close() {
    loop.finishAndReleaseAll();
  }

  private EmbeddedChannel connection() {
    return new EmbeddedChannel(
        new ChannelDuplexHandler() {
          @Override
          public void flush(ChannelHandlerContext ctx) {
            flushed.add((EmbeddedChannel) ctx.channel());
            ctx.flush();
            whenFlushed.run();
          }
        });
  }

  @Test
  void whatIsWrittenIsSentAtTheEndOfTheTurnInTheOrderOfItsWriting() {
    EmbeddedChannel one = connection();
    EmbeddedChannel two = connection();
    one.write(Bytes.of("1"));
    flush.add(one);
    two.write(Bytes.of("2"));
    flush.add(two);
    assertThat(flushed).isEmpty();
    assertThat(one.<Object>readOutbound()).isNull();

    loop.runPendingTasks();
    assertThat(flushed).containsExactly(one, two);
    assertThat(Bytes.text(one.readOutbound())).isEqualTo("1");
    assertThat(Bytes.text(two.readOutbound())).isEqualTo("2");
  }

  @Test
  void theNextTurnSendsAgain() {
    EmbeddedChannel one = connection();
    flush.add(one);
    loop.runPendingTasks();
    flush.add(one);
    loop.runPendingTasks();
    assertThat(flushed).containsExactly(one, one);
  }

  @Test
  void whatASendingBringsAboutIsSentInTheSameTurn() {
    EmbeddedChannel one = connection();
    EmbeddedChannel two = connection();
    whenFlushed =
        () -> {
          whenFlushed = () -> {};
          flush.add(two);
        };
    flush.add(one);
    loop.runPendingTasks();
    assertThat(flushed).containsExactly(one, two);
  }

  @Test
  void aLongTurnSendsInBetween() {
    List<EmbeddedChannel> connections = new ArrayList<>();
    for (int i = 0; i < LoopFlush.MAX_WAITING + 1; i++) {
      connections.add(connection());
    }
    connections.forEach(flush::add);
    assertThat(flushed).isEqualTo(connections.subList(0, LoopFlush.MAX_WAITING));

    loop.runPendingTasks();
    assertThat(flushed).isEqualTo(connections);
  }

  @Test
  void aConnectionThatWasClosedMeanwhileIsPassedOver() {
    EmbeddedChannel one = connection();
    EmbeddedChannel two = connection();
    flush.add(one);
    flush.add(two);
    one.close();
    loop.runPendingTasks();
    assertThat(flushed).contains(two);
  }
}
