package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.STREAM_BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.Key;
import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.Exchange;
import dev.sluice.testing.Answer;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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

  private static final class Failing extends Step {
    @Override
    void take(Exchange exchange) {
      throw new IllegalStateException("made to fail, of all things at 10.0.0.1");
    }
  }

  /** Puts a step that fails in this one's place. */
  private void fail(String name) {
    Step before = null;
    for (Map.Entry<String, Step> step : edge.rules.inOrder().entrySet()) {
      if (before != null && step.getKey().equals(name)) {
        before.linkTo(new Failing());
      }
      before = step.getValue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"body-size", "bearer-key", "route", "message-body", "forward"})
  void aRuleThatFailsIs500(String name) {
    fail(name);
    edge.send(post("/v1/messages", BODY));

    assertFault();
  }

  @ParameterizedTest
  @ValueSource(strings = {"route", "model-access", "forward"})
  void aRuleThatFailsOnceTheDirectoryHasAnsweredIs500(String name) throws InterruptedException {
    CompletableFuture<Optional<Key>> found = new CompletableFuture<>();
    edge.directory = hash -> found;
    fail(name);
    edge.send(post("/v1/messages", BODY));
    Thread thread = new Thread(() -> found.complete(edge.keys.values().stream().findAny()));
    thread.start();
    thread.join();

    assertFault();
  }

  private void assertFault() {
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
