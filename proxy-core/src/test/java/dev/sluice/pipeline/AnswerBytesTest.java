package dev.sluice.pipeline;

import static dev.sluice.pipeline.PipelineFixture.STREAM_BODY;
import static dev.sluice.pipeline.PipelineFixture.get;
import static dev.sluice.pipeline.PipelineFixture.post;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a connection counts of an answer belongs to the exchange that it is the answer of. */
class AnswerBytesTest {
  private final PipelineFixture edge = new PipelineFixture();

  @AfterEach
  void close() {
    edge.close();
  }

  @Test
  void eachExchangeOfAConnectionHasItsOwn() {
    for (String path : new String[] {"/v1/models", "/nowhere", "/v1/models/small"}) {
      edge.send(get(path));
      String answer = edge.received();

      assertThat(edge.summary().bytesOut()).isEqualTo(answer.length());
      assertThat(edge.summary().firstByteNanos()).isZero();
      edge.summaries.clear();
      edge.clockNanos += TimeUnit.SECONDS.toNanos(1);
    }
  }

  @Test
  void anExchangeWithoutAnAnswerHasNoneOfTheOneBefore() {
    edge.send(get("/v1/models"));
    edge.summaries.clear();
    edge.send(post("/v1/chat/completions", STREAM_BODY));
    edge.channel.close();

    assertThat(edge.summary().bytesOut()).isZero();
    assertThat(edge.summary().firstByteNanos()).isEqualTo(-1);
  }
}
