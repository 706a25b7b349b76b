package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.NOW;
import static dev.sluice.pipeline.PipelineFixture.STREAM_BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.Key;
import dev.sluice.access.Subscription;
import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.testing.Answer;
import dev.sluice.testing.Bytes;
import dev.sluice.testing.FakeUpstreams.Upstream;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys change while exchanges run, and those of keys that are good no longer end. */
class RevocationTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String MESSAGES = "/v1/messages";
  private static final String BEGUN =
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
          + "9\r\ndata: 1\n\n\r\n";
  private static final Subscription ACTIVE = new Subscription("s", "free", true);

  private final PipelineFixture edge = new PipelineFixture();
  private final StringBuilder wire = new StringBuilder();

  @AfterEach
  void close() {
    edge.close();
  }

  private static Key key(@Nullable Instant expires, boolean revoked) {
    return new Key("key-good", ACTIVE, expires, revoked);
  }

  /** What the keys file may say of a key from now on. */
  private enum Change {
    REVOKED(Reason.KEY_REVOKED),
    REMOVED(Reason.KEY_UNKNOWN),
    EXPIRED(Reason.KEY_EXPIRED),
    INACTIVE(Reason.SUBSCRIPTION_INACTIVE),
    /** Another key under the same name: the one before is not there any more. */
    REPLACED(Reason.KEY_UNKNOWN);

    final Reason reason;

    Change(Reason reason) {
      this.reason = reason;
    }

    void make(PipelineFixture edge) {
      switch (this) {
        case REVOKED -> edge.key("sk-good", key(null, true));
        case REMOVED -> edge.forget("sk-good");
        case EXPIRED -> edge.key("sk-good", key(NOW, false));
        case INACTIVE -> edge.key("sk-good", "free", false);
        case REPLACED -> {
          edge.forget("sk-good");
          edge.key("sk-next", key(null, false));
        }
      }
      edge.keysChanged();
    }
  }

  private Upstream streaming(String path) {
    edge.send(post(path, STREAM_BODY));
    Upstream upstream = edge.upstreams.last();
    upstream.answer(BEGUN);
    assertThat(body()).isEqualTo("data: 1\n\n");
    return upstream;
  }

  /** Everything of the stream's body that the caller has, without its chunks. */
  private String body() {
    wire.append(edge.received());
    return Answer.read(wire.toString()).body();
  }

  private void assertGoesOn(Upstream upstream) {
    assertThat(edge.received()).isEmpty();
    assertThat(upstream.isActive()).isTrue();
    upstream.answer("e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
    assertThat(edge.received()).endsWith("data: [DONE]\n\n\r\n0\r\n\r\n");
    assertThat(edge.summary().end()).isEqualTo(End.DONE);
  }

  @ParameterizedTest
  @EnumSource
  void aStreamEndsWithTheReasonOnAnEventBoundary(Change change) {
    Upstream upstream = streaming(CHAT);
    upstream.answer("11\r\ndata: 2\n\ndata: un\r\n");
    change.make(edge);

    ExchangeSummary summary = edge.summary();
    assertThat(body())
        .startsWith("data: 1\n\ndata: 2\n\ndata: {\"error\":{")
        .contains("\"type\":\"" + change.reason.type().wireName() + "\"")
        .endsWith("\"request_id\":\"" + summary.requestId() + "\"}\n\n");
    assertThat(Answer.read(wire.toString()).end()).isNotEqualTo(Answer.End.WHOLE);
    assertThat(edge.channel.connection()).isEqualTo("closing");
    assertThat(upstream.isActive()).isFalse();
    assertThat(edge.slots.inUse("free")).isZero();
    assertThat(summary.status()).isEqualTo(200);
    assertThat(summary.reason()).isEqualTo(change.reason);
    assertThat(summary.end()).isEqualTo(End.REVOKED);
    assertThat(summary.stream()).isTrue();
  }

  @Test
  void theEventIsInTheDialectOfTheOperation() {
    streaming(MESSAGES);
    Change.REVOKED.make(edge);

    assertThat(body())
        .startsWith("data: 1\n\nevent: error\ndata: {\"error\":{")
        .contains("\"type\":\"authentication_error\"");
  }

  @ParameterizedTest
  @EnumSource
  void whatHasNoAnswerYetIsAnsweredWithTheRealStatus(Change change) {
    edge.send(post(CHAT, BODY));
    Upstream upstream = edge.upstreams.last();
    change.make(edge);

    assertRefused(change.reason);
    assertThat(upstream.isActive()).isFalse();
  }

  @Test
  void aStreamWhoseFirstEventHasNotComeIsAnsweredWithTheRealStatus() {
    edge.send(post(CHAT, STREAM_BODY));
    edge.upstreams
        .last()
        .answer("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: un");
    Change.REVOKED.make(edge);

    assertRefused(Reason.KEY_REVOKED);
    assertThat(edge.upstreams.last().isActive()).isFalse();
    assertThat(edge.slots.inUse("free")).isZero();
  }

  @Test
  void aRequestWhoseBodyHasNotComeIsAnsweredWithTheRealStatus() {
    String request = post(CHAT, BODY);
    edge.send(request.substring(0, request.length() - 1));
    Change.INACTIVE.make(edge);

    assertRefused(Reason.SUBSCRIPTION_INACTIVE);
    edge.send("}");
    assertThat(edge.upstreams.opened()).isZero();
  }

  private void assertRefused(Reason reason) {
    Answer answer = edge.answer();
    assertThat(answer.status()).isEqualTo(reason.status());
    assertThat(answer.body()).contains(reason.type().wireName());
    assertThat(edge.summary().reason()).isEqualTo(reason);
    assertThat(edge.summary().end()).isEqualTo(End.DONE);
  }

  @Test
  void theStreamsOfOtherKeysGoOn() {
    edge.key("sk-pro", "pro", true);
    DuplexEmbeddedChannel other = edge.connect();
    other.writeInbound(Bytes.of(post(CHAT, STREAM_BODY).replace("sk-good", "sk-pro")));
    Upstream others = edge.upstreams.last();
    streaming(CHAT);
    Change.REVOKED.make(edge);

    assertThat(edge.summary().key()).isEqualTo("key-good");
    assertThat(others.isActive()).isTrue();
    assertThat(edge.slots.inUse("pro")).isEqualTo(1);
  }

  @Test
  void aStreamWhoseKeyIsStillGoodGoesOn() {
    Upstream upstream = streaming(CHAT);
    edge.key("sk-good", new Key("renamed", ACTIVE, NOW.plusSeconds(1), false));
    edge.keysChanged();

    assertGoesOn(upstream);
    assertThat(edge.summary().key()).isEqualTo("renamed");
  }

  @Test
  void aStreamWhoseKeyExpiresMeanwhileGoesOnWhateverElseChanges() {
    edge.key("sk-good", key(NOW.plusSeconds(1), false));
    Upstream upstream = streaming(CHAT);
    edge.now = NOW.plusSeconds(1);
    edge.keysChanged();
    edge.keysChanged();

    assertGoesOn(upstream);
  }

  @Test
  void aStreamWhoseKeyWasGivenAnExpiryThatComesLaterGoesOnWhateverElseChanges() {
    Upstream upstream = streaming(CHAT);
    edge.key("sk-good", key(NOW.plusSeconds(1), false));
    edge.keysChanged();
    edge.now = NOW.plusSeconds(1);
    edge.keysChanged();

    assertGoesOn(upstream);
  }

  @Test
  void anAnswerThatIsOnItsWayIsNotTouched() {
    edge.send(get("/v1/models"));
    String whole = edge.received();
    Change.REVOKED.make(edge);

    assertThat(whole).startsWith("HTTP/1.1 200 ");
    assertThat(edge.received()).isEmpty();
    assertThat(edge.channel.connection()).isEqualTo("open");
    edge.summaries.clear();
    edge.send(get("/v1/models"));
    assertRefused(Reason.KEY_REVOKED);
  }

  /** Keeps what is written until it is asked to send it. */
  private static final class SlowSocket extends ChannelOutboundHandlerAdapter {
    private @Nullable ChannelHandlerContext flushed;

    @Override
    public void flush(ChannelHandlerContext ctx) {
      flushed = ctx;
    }

    void send() {
      Objects.requireNonNull(flushed).flush();
    }
  }

  @Test
  void aWholeAnswerWhoseLastBytesAreOnTheirWayKeepsWhatItsHeadSays() {
    SlowSocket socket = new SlowSocket();
    edge.channel.pipeline().addFirst(socket);
    edge.send(get("/v1/models"));
    Change.REVOKED.make(edge);
    socket.send();

    assertThat(edge.received()).startsWith("HTTP/1.1 200 ").doesNotContain("connection:");
    assertThat(edge.channel.connection()).isEqualTo("open");
    edge.channel.pipeline().remove(socket);
    edge.summaries.clear();
    edge.send(get("/v1/models"));
    edge.pass(Duration.ofSeconds(1));
    assertRefused(Reason.KEY_REVOKED);
  }

  @Test
  void aWholeAnswerThatItsCallerDoesNotTakeIsGivenUpSoon() {
    edge.channel.pipeline().addFirst(new SlowSocket());
    edge.send(get("/v1/models"));
    Change.REVOKED.make(edge);
    edge.pass(Duration.ofMillis(499));
    assertThat(edge.channel.connection()).isEqualTo("open");

    edge.pass(Duration.ofMillis(1));
    assertThat(edge.channel.connection()).isEqualTo("closed");
    assertThat(edge.summary().end()).isEqualTo(End.REVOKED);
  }

  /** Answers that the directory still owes, in the order of the questions. */
  private Queue<CompletableFuture<Optional<Key>>> asked() {
    Queue<CompletableFuture<Optional<Key>>> asked = new ArrayDeque<>();
    edge.directory =
        hash -> {
          CompletableFuture<Optional<Key>> answer = new CompletableFuture<>();
          asked.add(answer);
          return answer;
        };
    return asked;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aKeyThatIsBeingLookedUpWhenItIsRevokedDoesNotPass(boolean told) {
    Queue<CompletableFuture<Optional<Key>>> asked = asked();
    edge.send(post(CHAT, STREAM_BODY));
    if (told) {
      edge.keysChanged();
      asked.remove().complete(Optional.of(key(null, false)));
    } else {
      // The answer comes after the change, and before the connection was told.
      edge.keyCache.invalidateAll();
      asked.remove().complete(Optional.of(key(null, false)));
      edge.channel.pipeline().fireUserEventTriggered(EdgeState.KEYS_CHANGED);
    }
    assertThat(edge.received()).isEmpty();
    assertThat(edge.upstreams.opened()).isZero();

    asked.remove().complete(Optional.of(key(null, true)));
    assertRefused(Reason.KEY_REVOKED);
  }

  @Test
  void aStreamWaitsForADirectoryThatAnswersLater() {
    Upstream upstream = streaming(CHAT);
    Queue<CompletableFuture<Optional<Key>>> asked = asked();
    edge.keysChanged();
    upstream.answer("9\r\ndata: 2\n\n\r\n");
    assertThat(edge.received()).contains("data: 2\n\n");
    asked.remove().complete(Optional.empty());

    assertThat(edge.received()).contains("authentication_error");
    assertThat(edge.summary().reason()).isEqualTo(Reason.KEY_UNKNOWN);
  }

  @Test
  void anAnswerOfBeforeTheNextChangeIsAskedForAgain() {
    streaming(CHAT);
    Queue<CompletableFuture<Optional<Key>>> asked = asked();
    edge.keysChanged();
    edge.keyCache.invalidateAll();
    asked.remove().complete(Optional.of(key(null, false)));
    assertThat(edge.summaries).isEmpty();

    asked.remove().complete(Optional.of(key(null, true)));
    assertThat(edge.received()).contains("authentication_error");
  }

  @Test
  void aStreamWhoseKeyCannotBeCheckedGoesOn() {
    Upstream upstream = streaming(CHAT);
    edge.directory = hash -> CompletableFuture.failedFuture(new IllegalStateException("no"));
    edge.keysChanged();

    assertGoesOn(upstream);
  }

  @Test
  void aCallerWhoLeavesWhileItsKeyIsCheckedAgainLeavesNothingBehind() {
    streaming(CHAT);
    Queue<CompletableFuture<Optional<Key>>> asked = asked();
    edge.keysChanged();
    edge.channel.close();
    asked.remove().complete(Optional.of(key(null, true)));

    assertThat(edge.received()).isEmpty();
    assertThat(edge.summary().end()).isEqualTo(End.CLIENT);
  }

  @Test
  void aRequestThatWaitsBehindTheStreamIsNotAnswered() {
    streaming(CHAT);
    edge.send(get("/v1/models"));
    Change.REVOKED.make(edge);

    assertThat(edge.received()).doesNotContain("HTTP/1.1");
    assertThat(edge.summaries).hasSize(1);
    edge.pass(Duration.ofSeconds(3));
    assertThat(edge.channel.connection()).isEqualTo("closed");
  }
}
