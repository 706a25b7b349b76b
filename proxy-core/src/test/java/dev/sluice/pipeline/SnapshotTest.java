package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.BODY;
import static dev.sluice.pipeline.PipelineFixture.LIMITS;
import static dev.sluice.pipeline.PipelineFixture.MAX_BODY_BYTES;
import static dev.sluice.pipeline.PipelineFixture.PLANS;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static dev.sluice.pipeline.PipelineFixture.received;
import static dev.sluice.pipeline.PipelineFixture.snapshot;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.Plan;
import dev.sluice.cluster.Catalog;
import dev.sluice.error.Reason;
import dev.sluice.exchange.RouteTable;
import dev.sluice.exchange.Snapshot;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Dialect;
import dev.sluice.message.Operation;
import dev.sluice.testing.Answer;
import dev.sluice.testing.Bytes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An exchange finishes on the configuration that it began with; the next sees the new one. */
class SnapshotTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String ANSWER =
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

  private final PipelineFixture edge = new PipelineFixture();

  @AfterEach
  void close() {
    edge.close();
  }

  private static HttpLimits limits(int maxBodyBytes, int maxConnections) {
    return new HttpLimits(
        LIMITS.maxRequestLineBytes(),
        LIMITS.maxHeaderBytes(),
        LIMITS.maxHeaderCount(),
        maxBodyBytes,
        maxConnections,
        LIMITS.maxExchanges(),
        LIMITS.headTimeout(),
        LIMITS.bodyTimeout(),
        LIMITS.keepAliveTimeout());
  }

  private static String head(String request) {
    return request.substring(0, request.indexOf("\r\n\r\n") + 4);
  }

  @Test
  void aModelThatIsGoneIsStillThereForWhoBeganBefore() {
    edge.send(head(post(CHAT, BODY)));
    edge.state.snapshot(snapshot(LIMITS, PLANS, "big"));
    edge.send(BODY);
    edge.upstreams.last().answer(ANSWER);
    assertThat(edge.answer().status()).isEqualTo(200);

    edge.send(post(CHAT, BODY));
    assertThat(edge.answer().status()).isEqualTo(404);
    assertThat(edge.summaries.get(0).model()).isEqualTo("small");
    assertThat(edge.summaries.get(1).reason()).isEqualTo(Reason.MODEL_UNKNOWN);
  }

  @Test
  void aModelThatIsNewIsNotThereForWhoBeganBefore() {
    edge.key("sk-pro", "pro", true);
    String request =
        post(CHAT, BODY.replace("small", "other1")).replace("Bearer sk-good", "Bearer sk-pro");
    edge.send(head(request));
    edge.state.snapshot(snapshot(LIMITS, PLANS, "small", "other1"));
    edge.send(BODY.replace("small", "other1"));
    assertThat(edge.answer().status()).isEqualTo(404);

    edge.send(request);
    edge.upstreams.last().answer(ANSWER);
    assertThat(edge.answer().status()).isEqualTo(200);
  }

  @Test
  void theBoundOnABodyIsThatOfItsBegin() {
    String body = " ".repeat(1000) + BODY;
    edge.send(head(post(CHAT, body)));
    edge.state.snapshot(snapshot(limits(1000, 3), PLANS, "small"));
    edge.send(body);
    edge.upstreams.last().answer(ANSWER);
    assertThat(edge.answer().status()).isEqualTo(200);

    edge.send(post(CHAT, body));
    Answer refused = edge.answer();
    assertThat(refused.status()).isEqualTo(413);
    assertThat(refused.body()).contains(" 1000 bytes");

    edge.state.snapshot(snapshot(limits(MAX_BODY_BYTES, 3), PLANS, "small"));
    edge.send(post(CHAT, body));
    edge.upstreams.last().answer(ANSWER);
    assertThat(edge.answer().status()).isEqualTo(200);
  }

  @Test
  void aPlanThatLosesAModelRefusesTheNextRequest() {
    edge.send(head(post(CHAT, BODY)));
    Plan free = new Plan("free", 2, 1, Set.of("big"), false);
    edge.state.snapshot(snapshot(LIMITS, List.of(free), "small", "big"));
    edge.send(BODY);
    edge.upstreams.last().answer(ANSWER);
    assertThat(edge.answer().status()).isEqualTo(200);

    edge.send(post(CHAT, BODY));
    assertThat(edge.answer().status()).isEqualTo(403);
  }

  @Test
  void aKeyWhosePlanIsNewerThanTheExchangeFindsIt() {
    edge.directory =
        hash -> {
          // Between the head of the request and its key: what a reload does.
          edge.state.snapshot(
              snapshot(LIMITS, List.of(new Plan("team", 1, 1, Set.of(), true)), "small"));
          edge.key("sk-good", "team", true);
          return CompletableFuture.completedFuture(Optional.ofNullable(edge.keys.get(hash)));
        };
    edge.send(get("/v1/models"));

    assertThat(edge.answer().status()).isEqualTo(200);
    assertThat(edge.summary().plan()).isEqualTo("team");
  }

  @Test
  void theModelListIsThatOfTheSnapshot() {
    assertThat(list()).contains("\"id\":\"small\"", "\"id\":\"big\"");
    edge.state.snapshot(snapshot(LIMITS, PLANS, "other", "big"));
    assertThat(list()).contains("\"id\":\"other\"", "\"id\":\"big\"").doesNotContain("small");
    edge.send(get("/v1/models/small"));
    assertThat(edge.answer().status()).isEqualTo(404);
    edge.send(get("/v1/models/other"));
    assertThat(edge.answer().body()).contains("\"id\":\"other\"");
  }

  private String list() {
    edge.send(get("/v1/models"));
    return edge.answer().body();
  }

  @Test
  void anOperationThatIsAddedIsServed() {
    edge.send(post("/v1/embeddings", "{\"model\":\"small\"}"));
    assertThat(edge.answer().status()).isEqualTo(404);
    Operation embeddings = new Operation("embeddings", "/v1/embeddings", Dialect.OTHER, false);
    edge.state.snapshot(
        new Snapshot(
            LIMITS,
            Map.of("free", PLANS.get(0)),
            new Catalog(List.of(PipelineFixture.model("small"))),
            new RouteTable(List.of(embeddings)),
            Duration.ZERO,
            0));
    edge.send(post("/v1/embeddings", "{\"model\":\"small\"}"));
    edge.upstreams.last().answer(ANSWER);

    assertThat(edge.answer().status()).isEqualTo(200);
  }

  @Test
  void fewerConnectionsThanAreOpenLeaveThoseAlone() {
    edge.connect();
    edge.state.snapshot(snapshot(limits(MAX_BODY_BYTES, 1), PLANS, "small"));
    edge.send(get("/v1/models"));
    assertThat(edge.answer().status()).isEqualTo(200);

    DuplexEmbeddedChannel next = edge.connect();
    next.writeInbound(Bytes.of(get("/v1/models")));
    assertThat(Answer.read(received(next)).status()).isEqualTo(503);
  }
}
