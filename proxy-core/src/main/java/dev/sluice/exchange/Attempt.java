package dev.sluice.exchange;

import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Timeouts;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.http.BodyFraming;
import dev.sluice.http.MediaType;
import dev.sluice.http.ResponseHead;
import dev.sluice.http.TraceContext;
import dev.sluice.message.RequestFacts;
import dev.sluice.timer.Deadline;
import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.AnswerHandler;
import dev.sluice.upstream.RequestEncoder;
import dev.sluice.upstream.UpstreamConnection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One try of one exchange at one endpoint. Event loop only. */
final class Attempt implements AnswerHandler {
  private enum Phase {
    CONNECTING,
    WAITING,
    ANSWERING,
    DONE
  }

  private final Exchange exchange;
  private final Cluster cluster;
  private final Model model;
  private final LiveEndpoint endpoint;
  private final Timeouts timeouts;
  private final Deadline deadline;
  private final long spanId = TraceContext.newSpanId();
  private final long startedNanos;
  private Phase phase = Phase.CONNECTING;
  private @Nullable UpstreamConnection connection;
  private @Nullable AnswerBody answer;
  private boolean reading = true;
  private boolean reported;
  private int retryAfterSeconds;
  private int status;

  /** Whether a stream's first event came, or another answer's first byte of a body. */
  private boolean progressed;

  /** Whether the cluster knows that the endpoint answers well. */
  private boolean answersWell;

  /** An attempt at an endpoint that its cluster has picked for it. */
  Attempt(Exchange exchange, LiveEndpoint endpoint) {
    this.exchange = exchange;
    this.cluster = exchange.cluster();
    this.model = cluster.model();
    this.endpoint = endpoint;
    this.timeouts = model.timeouts();
    this.startedNanos = exchange.trace().isSampled() ? exchange.elapsedNanos() : 0;
    this.deadline =
        new Deadline(exchange.downstream().context().timer()) {
          @Override
          protected void expired() {
            late();
          }
        };
  }

  /** Begins: over an idle connection of the pool where there is one. */
  void start() {
    connect(false);
  }

  /** Whether it has no connection yet. */
  boolean isConnecting() {
    return phase == Phase.CONNECTING;
  }

  private void connect(boolean fresh) {
    deadline.arm(timeouts.connect().toNanos());
    UpstreamConnection acquired =
        exchange.downstream().context().pool().acquire(model, endpoint.endpoint(), fresh, this);
    if (phase == Phase.CONNECTING && connection == null) {
      connection = acquired;
    }
  }

  @Override
  public void connected(UpstreamConnection connected) {
    connection = connected;
    phase = Phase.WAITING;
    deadline.arm(timeouts.firstByte().toNanos());
    HttpRequest head = exchange.head();
    ByteBuf body = forwardedBody();
    ByteBuf encoded;
    try {
      encoded =
          RequestEncoder.encode(
              exchange.downstream().alloc(),
              endpoint.endpoint(),
              head.method().name(),
              exchange.target(),
              head.headers(),
              head.protocolVersion().equals(HttpVersion.HTTP_1_0),
              exchange.requestId(),
              exchange.trace(),
              spanId,
              body.readableBytes());
    } catch (RuntimeException | Error e) {
      body.release();
      throw e;
    }
    connected.send(encoded, body);
  }

  /** The body as it came; where the upstream knows the model by another name, with that name. */
  private ByteBuf forwardedBody() {
    ByteBuf content = exchange.body().retainedContent();
    String upstreamModel = model.upstreamModel();
    if (upstreamModel == null) {
      return content;
    }
    RequestFacts facts = exchange.facts();
    ByteBufAllocator alloc = exchange.downstream().alloc();
    int after = content.readableBytes() - facts.modelEnd();
    CompositeByteBuf body = alloc.compositeBuffer(3);
    body.addComponent(true, content.retainedSlice(content.readerIndex(), facts.modelStart()));
    body.addComponent(true, Unpooled.wrappedBuffer(JsonText.quoted(upstreamModel)));
    body.addComponent(true, content.retainedSlice(content.readerIndex() + facts.modelEnd(), after));
    content.release();
    return body;
  }

  @Override
  public Next head(ResponseHead head, BodyFraming framing) {
    status = head.status();
    if (status >= 200 && status <= 299) {
      return success(head, framing);
    }
    retryAfterSeconds = UpstreamFailures.retryAfterSeconds(head);
    Failure failure = UpstreamFailures.ofStatus(status, retryAfterSeconds);
    if (failure.reason() == Reason.UPSTREAM_REFUSED
        || failure.reason() == Reason.UPSTREAM_REFUSED_SIZE) {
      answer = new RefusalAnswer(exchange, endpoint.endpoint(), failure, framing);
      return Next.READ_ON;
    }
    fail(failure, End.UPSTREAM);
    return Next.CLOSE;
  }

  private Next success(ResponseHead head, BodyFraming framing) {
    String contentType = head.headers().get(HttpHeaderNames.CONTENT_TYPE);
    String encoding = head.headers().get(HttpHeaderNames.CONTENT_ENCODING, "identity");
    boolean stream = exchange.facts().stream();
    boolean expected =
        stream ? MediaType.isEventStream(contentType) : MediaType.isJson(contentType);
    if (!expected || !encoding.equalsIgnoreCase("identity")) {
      fail(UpstreamFailures.contentType(stream), End.UPSTREAM);
      return Next.CLOSE;
    }
    if (!stream) {
      answer = new WholeAnswer(exchange, head, framing);
    } else if (framing.kind() == BodyFraming.Kind.CHUNKED && exchange.downstream().readsChunks()) {
      answer = new PassThroughRelay(exchange, head, framing);
    } else {
      answer = new ReframingRelay(exchange, head, framing);
    }
    return Next.READ_ON;
  }

  @Override
  public Next body(ByteBuf bytes) {
    AnswerBody current = answer;
    if (current == null) {
      bytes.release();
      return Next.CLOSE;
    }
    boolean some = bytes.isReadable();
    if (some) {
      phase = Phase.ANSWERING;
    }
    Next next = current.body(bytes);
    if (next != Next.READ_ON) {
      // The connection is its pool's again, or closed: not this attempt's to cancel.
      done();
    } else if (some && current.progressed() && phase == Phase.ANSWERING) {
      if (!progressed && !exchange.isOpen()) {
        answersWell(); // not before: the head of a stream, sent for a ping, is no answer
      }
      progressed = true;
      if (reading) {
        deadline.arm(timeouts.idle().toNanos());
      }
    }
    return next;
  }

  @Override
  public void readComplete() {
    if (answer != null) {
      answer.readComplete();
    }
  }

  @Override
  public void malformed() {
    fail(UpstreamFailures.protocol(), End.UPSTREAM);
  }

  @Override
  public void closed(boolean stale, boolean orderly) {
    connection = null;
    if (stale) {
      // The pool's connection had died before the request: asked once more, over one that is new.
      phase = Phase.CONNECTING;
      connect(true);
    } else if (phase == Phase.CONNECTING) {
      fail(UpstreamFailures.connect(untilNextTryNanos()), End.UPSTREAM);
    } else if (orderly && answer != null && answer.endedByClose()) {
      done();
    } else {
      fail(UpstreamFailures.closed(), End.UPSTREAM);
    }
  }

  @Override
  public void fault(Throwable cause) {
    connection = null;
    exchange.fault(cause);
  }

  private void late() {
    if (phase == Phase.CONNECTING) {
      fail(UpstreamFailures.connectTimeout(untilNextTryNanos()), End.UPSTREAM);
    } else if (!reading) {
      exchange.callerStalled();
    } else {
      Reason reason =
          progressed ? Reason.UPSTREAM_IDLE_TIMEOUT : Reason.UPSTREAM_FIRST_BYTE_TIMEOUT;
      fail(UpstreamFailures.timeout(reason), End.TIMEOUT);
    }
  }

  private long untilNextTryNanos() {
    return cluster.untilNextTryNanos(exchange.downstream().context().timer().nowNanos());
  }

  private void fail(Failure failure, End brokenOff) {
    deadline.disarm();
    exchange.fail(failure, brokenOff);
  }

  /** Flow control: reads on, or lets the upstream wait for a caller who is slower. */
  void setReading(boolean now) {
    reading = now;
    if (connection != null && phase == Phase.ANSWERING) {
      connection.setReading(now);
      deadline.arm(timeouts.idle().toNanos());
    }
  }

  /** The last bytes to the caller of an answer that breaks off after its head was sent. */
  ByteBuf lastWords(Failure failure) {
    return answer == null ? Unpooled.EMPTY_BUFFER : answer.lastWords(failure);
  }

  /** Where it is tried. */
  LiveEndpoint endpoint() {
    return endpoint;
  }

  private void answersWell() {
    answersWell = true;
    cluster.answering(endpoint, exchange.downstream().context().timer().nowNanos());
  }

  /** Tells the cluster what the failure of the exchange says of the endpoint. */
  void report(Failure failure) {
    report(UpstreamFailures.outcome(failure.reason(), retryAfterSeconds > 0), failure.reason());
  }

  /** Tells the cluster that the attempt has ended with a whole answer. */
  void answered() {
    report(answersWell ? Cluster.Outcome.CANCELLED : Cluster.Outcome.ANSWERED, null);
  }

  private void report(Cluster.Outcome outcome, @Nullable Reason reason) {
    if (!reported) {
      reported = true;
      if (exchange.trace().isSampled()) {
        long lasted = exchange.elapsedNanos() - startedNanos;
        exchange.tried(
            new AttemptSummary(endpoint.endpoint(), spanId, startedNanos, lasted, status, reason));
      }
      LoopTimer timer = exchange.downstream().context().timer();
      cluster.ended(
          endpoint, outcome, TimeUnit.SECONDS.toNanos(retryAfterSeconds), timer.nowNanos());
    }
  }

  /**
   * Ends the answer where its caller has all of it but for the end of its framing, whatever becomes
   * of the upstream; false where the caller has not.
   */
  boolean finish() {
    if (answer == null || !answer.finish()) {
      return false;
    }
    cancel();
    return true;
  }

  /** Ends the attempt; what it still has on the way upstream or from there is dropped at once. */
  void cancel() {
    report(Cluster.Outcome.CANCELLED, null);
    UpstreamConnection cancelled = connection;
    done();
    if (cancelled != null) {
      cancelled.cancel();
    }
  }

  private void done() {
    phase = Phase.DONE;
    connection = null;
    deadline.disarm();
    if (answer != null) {
      answer.release();
    }
  }
}
