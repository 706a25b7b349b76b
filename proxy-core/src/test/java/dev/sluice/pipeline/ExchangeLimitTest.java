package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.STREAM_BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.HttpLimits;
import dev.sluice.testing.Answer;
import dev.sluice.testing.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** No more exchanges than the bound are under way, and each counts until it has ended. */
class ExchangeLimitTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String OK =
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

  private final PipelineFixture edge = new PipelineFixture();
  private final DuplexEmbeddedChannel second = edge.connect();
  private final DuplexEmbeddedChannel third = edge.connect();

  @BeforeEach
  void letInTwo() {
    letIn(2);
  }

  private void letIn(int maxExchanges) {
    HttpLimits limits = PipelineFixture.LIMITS;
    edge.state.snapshot(
        PipelineFixture.snapshot(
            new HttpLimits(
                limits.maxRequestLineBytes(),
                limits.maxHeaderBytes(),
                limits.maxHeaderCount(),
                limits.maxBodyBytes(),
                limits.maxConnections(),
                maxExchanges,
                limits.headTimeout(),
                limits.bodyTimeout(),
                limits.keepAliveTimeout()),
            PipelineFixture.PLANS,
            "small",
            "big"));
  }

  @AfterEach
  void close() {
    edge.close();
  }

  private static Answer exchange(DuplexEmbeddedChannel channel, String request) {
    channel.writeInbound(Bytes.of(request));
    return Answer.read(PipelineFixture.received(channel));
  }

  /** Exactly two exchanges are let in once every connection is closed. */
  private void assertBothAreFree() {
    edge.channel.close();
    second.close();
    third.close();
    edge.summaries.clear();
    edge.connect().writeInbound(Bytes.of(post(CHAT, BODY)));
    edge.connect().writeInbound(Bytes.of(post(CHAT, BODY)));
    edge.connect().writeInbound(Bytes.of(get("/v1/models")));

    assertThat(edge.summary().reason()).isEqualTo(Reason.EXCHANGE_LIMIT);
  }

  @Test
  void anExchangeTooManyIs503AndTheOthersGoOn() {
    edge.send(post(CHAT, BODY));
    second.writeInbound(Bytes.of(post(CHAT, STREAM_BODY)));

    Answer answer = exchange(third, post(CHAT, STREAM_BODY));

    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.head()).contains("\r\nretry-after: 5\r\n").doesNotContain("ratelimit");
    assertThat(third.connection()).isEqualTo("open");
    ExchangeSummary summary = edge.summary();
    assertThat(summary.reason()).isEqualTo(Reason.EXCHANGE_LIMIT);
    assertThat(summary.plan()).as("nothing of it was looked at").isNull();
    assertThat(edge.upstreams.opened()).isEqualTo(2);
    assertThat(edge.slots.inUse("free")).isEqualTo(1);
    assertThat(edge.upstreams.last().isActive()).isTrue();
  }

  @Test
  void anExchangeThatHasEndedMakesRoom() {
    edge.send(post(CHAT, BODY));
    second.writeInbound(Bytes.of(post(CHAT, BODY)));
    assertThat(exchange(third, get("/v1/models")).status()).isEqualTo(503);
    edge.upstreams.last().answer(OK);

    assertThat(exchange(third, get("/v1/models")).status()).isEqualTo(200);
    assertThat(exchange(third, get("/v1/models")).status()).isEqualTo(200);
  }

  @Test
  void aBoundThatShrinksEndsNothingAndLetsNobodyInUntilEnoughHaveEnded() {
    edge.send(post(CHAT, BODY));
    second.writeInbound(Bytes.of(post(CHAT, BODY)));
    letIn(1);

    assertThat(exchange(third, get("/v1/models")).status()).isEqualTo(503);
    edge.upstreams.last().answer(OK);
    assertThat(Answer.read(PipelineFixture.received(second)).status()).isEqualTo(200);
    assertThat(exchange(third, get("/v1/models")).status()).isEqualTo(503);
    edge.channel.close();
    assertThat(exchange(third, get("/v1/models")).status()).isEqualTo(200);
  }

  @Test
  void aRefusedExchangeTakesNoRoom() {
    edge.send(post(CHAT, BODY));
    second.writeInbound(Bytes.of(post(CHAT, BODY)));
    for (int i = 0; i < 5; i++) {
      assertThat(exchange(third, get("/v1/models")).status()).isEqualTo(503);
    }
    second.close();

    assertThat(exchange(third, get("/v1/models")).status()).isEqualTo(200);
  }

  @Test
  void requestsThatWaitTheirTurnCountOneByOne() {
    second.writeInbound(Bytes.of(post(CHAT, BODY)));
    edge.send(get("/v1/models").repeat(3));

    assertThat(edge.received().split("HTTP/1.1 200 OK", -1)).hasSize(4);
    assertBothAreFree();
  }

  @Test
  void aFailedExchangeMakesRoomOnce() {
    edge.send(get("/v1/models").replace("sk-good", "sk-bad"));
    edge.send(get("/nowhere"));
    edge.send(post(CHAT, "{"));
    edge.send(post(CHAT, BODY));
    edge.upstreams.last().answer("HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n");
    assertThat(edge.received()).contains("HTTP/1.1 502 ");
    assertThat(edge.summaries).hasSize(4);

    assertBothAreFree();
  }

  @Test
  void aCallerWhoLeavesMakesRoomOnce() {
    edge.send(post(CHAT, STREAM_BODY));
    edge.channel.close();

    assertBothAreFree();
  }

  @Test
  void aCallerWhoLeavesBeforeItsBodyCameMakesRoomOnce() {
    edge.send(post(CHAT, STREAM_BODY).replace(STREAM_BODY, "{"));
    edge.channel.close();

    assertBothAreFree();
  }

  @Test
  void aFaultMakesRoomOnce() {
    edge.send(post(CHAT, STREAM_BODY));
    edge.channel.pipeline().fireExceptionCaught(new IllegalStateException("made to fail"));
    edge.channel.close();

    assertBothAreFree();
  }
}
