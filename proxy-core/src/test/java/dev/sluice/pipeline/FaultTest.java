package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.STREAM_BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.testing.Answer;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults of Sluice itself: the exchange ends with 500, everything else goes on. */
class FaultTest {
  private final PipelineFixture edge = new PipelineFixture();

  @AfterEach
  void close() {
    edge.close();
  }

  private static final class Failing extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      throw new IllegalStateException("made to fail, of all things at 10.0.0.1");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"admission", "bearer-key", "route", "message-body", "forward"})
  void aRuleThatFailsIs500(String before) {
    edge.channel.pipeline().addBefore(before, "failing", new Failing());
    edge.send(post("/v1/messages", BODY));

    Answer answer = edge.answer();
    assertThat(answer.status()).isEqualTo(500);
    assertThat(answer.body())
        .contains("\"type\":\"api_error\"")
        .doesNotContain("made to fail")
        .doesNotContain("Exception");
    assertThat(edge.channel.connection()).isEqualTo("closing");
    assertThat(edge.summary().reason()).isEqualTo(Reason.INTERNAL);
    assertThat(edge.upstreams.opened()).isZero();
  }

  @Test
  void aDirectoryWithAnErrorOfTheMachineIs500() {
    edge.directory =
        hash -> {
          throw new StackOverflowError("made to fail");
        };
    edge.send(get("/v1/models"));

    assertThat(edge.answer().status()).isEqualTo(500);
    assertThat(edge.summary().reason()).isEqualTo(Reason.INTERNAL);
  }

  @Test
  void aListenerThatFailsDoesNotDisturbTheConnection() {
    edge.listener =
        summary -> {
          throw new IllegalStateException("made to fail");
        };
    edge.send(get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(200);
    edge.send(get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(200);
    assertThat(edge.channel.connection()).isEqualTo("open");
  }

  @Test
  void aFaultWithinAStreamEndsItWithAnErrorEvent() {
    edge.send(post("/v1/messages", STREAM_BODY));
    edge.upstreams
        .last()
        .answer(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked"
                + "\r\n\r\n9\r\ndata: 1\n\n\r\n");
    edge.channel.pipeline().fireExceptionCaught(new IllegalStateException("made to fail"));

    Answer answer = edge.answer();
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body())
        .startsWith("data: 1\n\nevent: error\ndata: {")
        .contains("\"api_error\"");
    assertThat(answer.end()).isEqualTo(Answer.End.BETWEEN_CHUNKS);
    assertThat(edge.channel.connection()).isEqualTo("closing");
    assertThat(edge.summary().reason()).isEqualTo(Reason.INTERNAL);
    assertThat(edge.upstreams.last().isActive()).isFalse();
  }

  @Test
  void aConnectionThatBreaksIsNoFault() {
    edge.send(post("/v1/messages", STREAM_BODY));
    edge.channel.pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));

    assertThat(edge.received()).isEmpty();
    assertThat(edge.channel.connection()).isEqualTo("closed");
    assertThat(edge.summary().end()).isEqualTo(End.CLIENT);
    assertThat(edge.summary().reason()).isNull();
    assertThat(edge.upstreams.last().isActive()).isFalse();
  }

  @Test
  void aFaultBetweenTwoRequestsEndsTheConnection() {
    edge.channel.pipeline().fireExceptionCaught(new IllegalStateException("made to fail"));

    assertThat(edge.received()).isEmpty();
    assertThat(edge.channel.connection()).isEqualTo("closed");
    assertThat(edge.summaries).isEmpty();
  }
}
