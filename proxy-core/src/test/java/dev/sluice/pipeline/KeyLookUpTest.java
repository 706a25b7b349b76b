package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.Key;
import dev.sluice.access.Subscription;
import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.testing.Answer;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A directory of keys that answers later, on another thread, or not at all. */
class KeyLookUpTest {
  private static final Key KEY = new Key("k", new Subscription("s", "free", true), null, false);

  private final CompletableFuture<Optional<Key>> answer = new CompletableFuture<>();
  private final PipelineFixture edge = new PipelineFixture();

  KeyLookUpTest() {
    edge.directory = hash -> answer;
  }

  @AfterEach
  void close() {
    edge.close();
  }

  @Test
  void theRequestGoesOnWhenTheDirectoryHasAnswered() {
    edge.send(post("/v1/messages", BODY));
    assertThat(edge.received()).isEmpty();
    assertThat(edge.upstreams.opened()).isZero();

    answer.complete(Optional.of(KEY));
    edge.received();
    assertThat(edge.upstreams.last().received()).endsWith(BODY);
  }

  @Test
  void anAnswerOnAnotherThreadIsTakenUpByTheLoop() throws InterruptedException {
    edge.send(get("/v1/models"));
    Thread thread = new Thread(() -> answer.complete(Optional.of(KEY)));
    thread.start();
    thread.join();

    assertThat(edge.answer().status()).isEqualTo(200);
  }

  @Test
  void whatComesMeanwhileWaits() {
    String request = post("/v1/messages", BODY);
    int headEnd = request.indexOf("\r\n\r\n") + 4;
    edge.send(request.substring(0, headEnd));
    edge.send(request.substring(headEnd, headEnd + 10));
    edge.send(request.substring(headEnd + 10) + get("/v1/models"));
    answer.complete(Optional.of(KEY));
    edge.received();

    assertThat(edge.upstreams.last().received()).endsWith(BODY);
    assertThat(edge.summaries).isEmpty();
  }

  @Test
  void anUnknownKeyIs401WhenTheDirectoryHasAnswered() {
    edge.send(get("/v1/models"));
    answer.complete(Optional.empty());

    assertRefused(401, Reason.KEY_UNKNOWN);
  }

  @Test
  void aDirectoryThatFailsIs503() {
    edge.send(get("/v1/models"));
    answer.completeExceptionally(new IllegalStateException("made to fail"));

    assertRefused(503, Reason.KEY_DIRECTORY);
  }

  @Test
  void aDirectoryThatThrowsIs503() {
    edge.directory =
        hash -> {
          throw new IllegalStateException("made to fail");
        };
    edge.send(get("/v1/models"));

    assertRefused(503, Reason.KEY_DIRECTORY);
  }

  @Test
  void aDirectoryThatAnswersWithNothingAtAllIs503() {
    edge.send(get("/v1/models"));
    completeWithNull();

    assertRefused(503, Reason.KEY_DIRECTORY);
  }

  @SuppressWarnings("NullAway") // what a careless directory might do
  private void completeWithNull() {
    answer.complete(null);
  }

  @Test
  void aCallerWhoLeavesMeanwhileLeavesNothingBehind() {
    edge.send(post("/v1/messages", BODY));
    edge.channel.close();
    assertThat(edge.summary().end()).isEqualTo(End.CLIENT);
    assertThat(edge.summary().status()).isZero();
    answer.complete(Optional.of(KEY));
    edge.received();

    assertThat(edge.summaries).hasSize(1);
    assertThat(edge.upstreams.opened()).isZero();
  }

  @Test
  void aShutdownMeanwhileIsAnsweredOnce() {
    edge.send(get("/v1/models"));
    edge.channel.pipeline().fireUserEventTriggered(EdgeState.GRACE_OVER);
    assertThat(edge.answer().status()).isEqualTo(503);
    answer.complete(Optional.of(KEY));

    assertThat(edge.received()).isEmpty();
    assertThat(edge.summary().reason()).isEqualTo(Reason.SHUTDOWN);
  }

  private void assertRefused(int status, Reason reason) {
    Answer refusal = edge.answer();
    assertThat(refusal.status()).isEqualTo(status);
    assertThat(edge.channel.connection()).isEqualTo("open");
    assertThat(edge.summary().reason()).isEqualTo(reason);
    assertThat(edge.summary().key()).isNull();
  }
}
