package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.testing.Answer.Ending;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The two ends of every black-box test, held against each other. */
class ScriptedUpstreamTest {
  private final ScriptedUpstream upstream = ScriptedUpstream.start();
  private final RawClient client = RawClient.connect(upstream.port());

  @AfterEach
  void close() {
    client.close();
    upstream.close();
    upstream.assertNoFaults();
  }

  @Test
  void scriptsAnswerInOrderOnOneConnectionAndRequestsAreRecordedAsTheyCame() {
    upstream.answers(
        Script.json("{\"n\":\"ü\"}", "X-One: 1"), Script.stream("data: a\n\n", "data: b\n\n"));

    Answer first = client.exchange(Request.post("/a?b=c", "{\"ü\":1}"));
    Answer second = client.exchange(Request.post("/b", "{\"two\":2}").chunked(2));
    Answer third = client.exchange(Request.of("HEAD", "/c"));

    assertThat(first.text()).isEqualTo("{\"n\":\"ü\"}");
    assertThat(first.header("x-one")).isEqualTo("1");
    assertThat(second.text()).isEqualTo("data: a\n\ndata: b\n\n");
    assertThat(second.ending()).isEqualTo(Ending.WHOLE);
    assertThat(third.status()).isEqualTo(200);
    Recorded recorded = upstream.take();
    assertThat(recorded.line()).isEqualTo("POST /a?b=c HTTP/1.1");
    assertThat(Wire.text(recorded.body())).isEqualTo("{\"ü\":1}");
    Recorded next = upstream.take();
    assertThat(next.body()).isEqualTo("{\"two\":2}");
    assertThat(next.connection()).isEqualTo(recorded.connection());
  }

  @Test
  void aBrokenStreamIsToldFromAWholeOne() {
    upstream.answers(
        Script.raw(Script.streamHead() + Script.chunks("data: a\n\n") + "5\r\nda").thenClose());

    Answer answer = client.exchange(Request.get("/"));

    assertThat(answer.ending()).isEqualTo(Ending.BROKEN_OFF);
    assertThat(answer.text()).isEqualTo("data: a\n\nda");
    client.assertClosed();
  }

  @Test
  void aBodyThatEndsWithTheConnectionIsReadToItsEnd() {
    upstream.answers(Script.raw("HTTP/1.0 200 OK\r\n\r\nabc").thenClose());

    Answer answer = client.exchange(Request.get("/"));

    assertThat(answer.ending()).isEqualTo(Ending.UNTIL_CLOSE);
    assertThat(answer.body()).isEqualTo("abc");
  }

  @Test
  void anUpstreamSeesThatItsPeerHasGone() {
    upstream.answers(Script.stall());
    client.send(Request.get("/"));
    Recorded request = upstream.take();

    assertThat(request.isGone()).isFalse();
    client.assertSilent(Duration.ofMillis(20));
    client.reset();

    request.awaitGone();
  }

  @Test
  void aTrickledRequestIsPutTogetherAndATrickledAnswerToo() {
    upstream.answers(Script.trickle("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));

    client.trickle(Request.post("/", "{}").wire(), Duration.ZERO);

    assertThat(client.read().body()).isEqualTo("ok");
    assertThat(upstream.take().body()).isEqualTo("{}");
  }

  @Test
  void anAnswerThatIsFramedTwiceFails() {
    upstream.answers(
        Script.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"));
    client.send(Request.get("/"));

    assertThatThrownBy(client::read).isInstanceOf(AssertionError.class);
  }

  @Test
  void anAnswerMayComeBeforeTheBodyOfItsRequest() {
    upstream.answers(Script.json(413, "{}").beforeTheBody());
    Request request = Request.post("/", "{\"a\":1}");
    client.send(request.head());

    assertThat(client.read().status()).isEqualTo(413);
  }
}
