package dev.sluice.exchange;

import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Plan;
import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.http.RequestId;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Dialect;
import dev.sluice.message.PrefixHash;
import dev.sluice.message.RequestFacts;
import dev.sluice.message.Usage;
import dev.sluice.slots.SlotLease;
import dev.sluice.slots.SlotsLeft;
import dev.sluice.timer.Deadline;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its answer, from the end of the one's head to the last byte of the other. The
 * rules of the pipeline look at it and fill it in; it ends exactly once, and then everything that
 * it held has been let go of. Event loop only.
 */
public final class Exchange {
  /*
   * OPEN       the request is read and checked, or forwarded; nothing of an answer was sent
   * ANSWERING  the head of an answer was sent, its end was not
   * DELIVERING the last bytes of an answer were written; they are on their way to the caller
   * ENDED      nothing is held any more
   */
  private enum Phase {
    OPEN,
    ANSWERING,
    DELIVERING,
    ENDED
  }

  private static final Logger logger = LoggerFactory.getLogger(Exchange.class);

  private final Downstream downstream;
  private final Snapshot snapshot;
  private final Route route;
  private final long declaredBodyBytes;
  private final String requestId = RequestId.next();
  private final TraceContext trace;
  private final long startedMillis = System.currentTimeMillis();
  private final long startedNanos;

  private Phase phase = Phase.OPEN;
  private @Nullable HttpRequest head;
  private @Nullable String target;
  private @Nullable KeyHash keyHash;
  private @Nullable Key key;
  private @Nullable Plan plan;
  private @Nullable HeldBody body;
  private @Nullable HeldBody answerBody;
  private @Nullable RequestFacts facts;
  private @Nullable Cluster cluster;
  private @Nullable Runnable whenEnded;
  private @Nullable SlotsLeft slotsLeft;
  private @Nullable SlotLease lease;
  private @Nullable Deadline wholeTime;
  private @Nullable Attempt attempt;
  private @Nullable LiveEndpoint endpoint;
  private List<LiveEndpoint> failedAt = List.of();
  private long prefixHash = Cluster.NO_PREFIX;
  private int attempts;
  private List<AttemptSummary> traced = List.of();
  private boolean retrying;
  private @Nullable Reason retriedReason;
  private boolean retryDenied;
  private boolean stream;
  private int status;
  private @Nullable Reason reason;
  private End end = End.DONE;
  private End undelivered = End.CLIENT;
  private long unsentBytes;
  private long bytesIn;
  private long events;
  private Usage usage = Usage.NONE;
  private long firstByteNanos = -1;

  /**
   * An exchange that begins.
   *
   * @param snapshot what is configured when it begins
   * @param head the request's head; null where it could not be read
   * @param target the target in origin form, path and query as they were sent
   * @param route where the target leads
   * @param declaredBodyBytes the body's length as the head declares it; -1 where it does not
   */
  public Exchange(
      Downstream downstream,
      Snapshot snapshot,
      @Nullable HttpRequest head,
      String target,
      Route route,
      long declaredBodyBytes) {
    this.downstream = downstream;
    this.snapshot = snapshot;
    this.startedNanos = clockNanos();
    this.declaredBodyBytes = declaredBodyBytes;
    this.head = head;
    this.trace =
        head == null
            ? TraceContext.begin(snapshot.traceSample())
            : TraceContext.of(head.headers(), snapshot.traceSample());
    this.target = target;
    this.route = route;
  }

  // What is known of the request.

  /** What was configured when it began; the same to its end. */
  public Snapshot snapshot() {
    return snapshot;
  }

  /** The request's head; only until an answer begins. */
  public HttpRequest head() {
    return require(head, "head");
  }

  /** Path and query as they were sent; only until an answer begins. */
  public String target() {
    return require(target, "target");
  }

  /** Where the target leads. */
  public Route route() {
    return route;
  }

  /** How many bytes of body the head announced; -1 where it did not say. */
  public long declaredBodyBytes() {
    return declaredBodyBytes;
  }

  /** The id in every answer's {@code x-request-id}. */
  public String requestId() {
    return requestId;
  }

  /** The trace that it belongs to. */
  TraceContext trace() {
    return trace;
  }

  /** The connection that it came over. */
  public Downstream downstream() {
    return downstream;
  }

  /** Whether the request asks for a head alone. */
  public boolean isHeadRequest() {
    return head != null && head.method().name().equals("HEAD");
  }

  /** The hash of the key that the request came with. */
  public void presented(KeyHash presented) {
    keyHash = presented;
  }

  /** The hash of the caller's key; null where the caller is not known. */
  public @Nullable KeyHash keyHash() {
    return key == null ? null : keyHash;
  }

  /** What is known of the caller's key has changed. */
  public void renew(Key known) {
    key = known;
  }

  /** Who calls, once it is known. */
  public void identify(Key caller, Plan bought) {
    key = caller;
    plan = bought;
  }

  /** The caller's key; only after {@link #identify}. */
  public Key key() {
    return require(key, "key");
  }

  /** The caller's plan; only after {@link #identify}. */
  public Plan plan() {
    return require(plan, "plan");
  }

  /** The request's body comes into this, which the exchange releases. */
  public HeldBody holdBody(int maxBytes) {
    body = hold(MemoryBudget.Claim.REQUEST, maxBytes);
    return body;
  }

  /** The request's body; only until an answer begins. */
  public HeldBody body() {
    return require(body, "body");
  }

  /** Counts bytes of the request's body as they come. */
  public void countBytesIn(int bytes) {
    bytesIn += bytes;
  }

  /** What the request's body says, once it was inspected. */
  public void learn(RequestFacts learned) {
    facts = learned;
    stream = learned.stream();
  }

  /** What the request's body says; only after {@link #learn}, and until an answer begins. */
  public RequestFacts facts() {
    return require(facts, "facts");
  }

  /** The model that is asked for. */
  public void cluster(Cluster found) {
    cluster = found;
  }

  /** The model that is asked for; only after {@link #cluster(Cluster)}. */
  public Cluster cluster() {
    return require(cluster, "cluster");
  }

  /** What the streaming request's answer says of its slots, whatever becomes of it. */
  public void slotsLeft(SlotsLeft left) {
    slotsLeft = left;
  }

  /** What its answer says of slots; null where it did not ask for one, or its head is written. */
  @Nullable SlotsLeft slotsLeft() {
    return slotsLeft;
  }

  /** The slot of a streaming request, which the exchange gives back. */
  public void hold(SlotLease taken) {
    lease = taken;
  }

  /** Runs when it has ended, whatever ended it; once, before the next request is read. */
  public void whenEnded(Runnable action) {
    whenEnded = action;
  }

  /** Whether it has ended. What an asynchronous rule learns after that is of no use. */
  public boolean hasEnded() {
    return phase == Phase.ENDED;
  }

  /** Whether nothing of an answer was written yet. */
  public boolean isOpen() {
    return phase == Phase.OPEN;
  }

  // What becomes of it.

  /**
   * The request fails. Where nothing of an answer was sent, the failure is answered in the one
   * error shape; where a stream is under way, it ends with an error event and a broken connection.
   */
  public void refuse(Failure failure) {
    conclude(failure, End.DONE);
  }

  /**
   * The attempt failed. While nothing of an answer was sent the request may be tried elsewhere;
   * else the exchange fails with it.
   */
  void fail(Failure failure, End brokenOff) {
    Attempt failed = attempt;
    if (failed == null || !triesElsewhere(failed, failure)) {
      conclude(failure, brokenOff);
    }
  }

  /*
   * What was sent once may have been done once: so only failures that say so are tried again, on an
   * endpoint that was not asked yet, and never once the caller has a byte. The cluster's budget keeps
   * a broken endpoint's load from toppling the others. One unit of it serves all further attempts of
   * an exchange, and goes back when an answer begins or the exchange fails.
   */
  private boolean triesElsewhere(Attempt failed, Failure failure) {
    if (phase != Phase.OPEN
        || !failure.reason().isRetriable()
        || attempts >= cluster().model().attempts()) {
      return false;
    }
    failed.report(failure);
    if (!retrying) {
      retrying = cluster().tryBeginRetry();
      if (!retrying) {
        retryDenied = true;
        return false;
      }
    }
    List<LiveEndpoint> asked = new ArrayList<>(failedAt);
    asked.add(failed.endpoint());
    LiveEndpoint next = cluster().pick(prefixHash, asked, nowNanos());
    if (next == null) {
      return false;
    }
    failedAt = asked;
    retriedReason = failure.reason();
    usage = Usage.NONE; // what the failed attempt began to say is not of the answer
    cancelAttempt();
    releaseAnswer();
    try {
      attempt(next);
    } catch (RuntimeException | Error e) {
      fault(e); // the failed attempt's connection would catch it, and no longer knows the exchange
    }
    return true;
  }

  private void conclude(Failure failure, End brokenOff) {
    if (phase == Phase.DELIVERING || phase == Phase.ENDED) {
      return;
    }
    if (attempt != null && attempt.finish()) {
      return; // the caller has all of its answer already
    }
    reason = failure.reason();
    if (attempt != null) {
      attempt.report(failure);
    }
    Attempt last = cancelAttempt();
    endRetry();
    releaseBody();
    releaseSlot();
    try {
      tell(failure, last, brokenOff);
    } catch (RuntimeException | Error e) {
      // No memory for the answer, say. Nothing else would end it.
      logger.error("fault of Sluice in exchange {}, which was to be told {}", requestId, reason, e);
      phase = Phase.DELIVERING;
      downstream.abort();
    }
  }

  private void tell(Failure failure, @Nullable Attempt last, End brokenOff) {
    if (phase == Phase.OPEN) {
      phase = Phase.DELIVERING;
      status = failure.reason().status();
      downstream.writeLast(Answers.error(this, failure));
      return;
    }
    phase = Phase.DELIVERING;
    end = brokenOff;
    downstream.closeAfterAnswer();
    downstream.writeLast(last == null ? Unpooled.EMPTY_BUFFER : last.lastWords(failure));
  }

  /** Answers with a JSON body of Sluice's own. */
  public void answer(int answerStatus, byte[] json) {
    status = answerStatus;
    phase = Phase.DELIVERING;
    downstream.writeLast(Answers.json(this, answerStatus, json));
  }

  /** Forwards the request to its model's upstream. */
  public void forward() {
    Model model = cluster().model();
    if (model.timeouts().total() != null) {
      bound(model.timeouts().total());
    }
    if (model.balance() == Balance.PREFIX_AFFINITY) {
      ByteBuf content = body().retainedContent();
      prefixHash = PrefixHash.of(content, facts().prefixStart(), facts().prefixEnd());
      content.release();
    }
    LiveEndpoint picked = cluster().pick(prefixHash, failedAt, nowNanos());
    if (picked == null) {
      conclude(UpstreamFailures.noEndpoint(cluster().untilNextTryNanos(nowNanos())), End.UPSTREAM);
    } else {
      attempt(picked);
    }
  }

  private void attempt(LiveEndpoint picked) {
    endpoint = picked;
    attempts++;
    attempt = new Attempt(this, picked);
    attempt.start();
  }

  private void bound(Duration total) {
    wholeTime =
        new Deadline(downstream.context().timer()) {
          @Override
          protected void expired() {
            conclude(UpstreamFailures.timeout(Reason.EXCHANGE_TIMEOUT), End.TIMEOUT);
          }
        };
    wholeTime.arm(total.toNanos() - elapsedNanos());
  }

  /** Sluice itself failed: the exchange ends, the process and every other exchange go on. */
  public void fault(Throwable cause) {
    logger.error("fault of Sluice in exchange {}", requestId, cause);
    if (phase == Phase.DELIVERING || phase == Phase.ENDED) {
      downstream.abort();
      return;
    }
    conclude(
        Failure.of(
            Reason.INTERNAL,
            "Sluice failed while it handled the request. Quote the request id to its operator."),
        End.UPSTREAM);
  }

  /** The deadline of a drain has come. */
  public void shutdown() {
    endNow(
        Failure.of(Reason.SHUTDOWN, "Sluice is shutting down. Send the request again."),
        End.SHUTDOWN);
  }

  /**
   * The caller's key is good no longer.
   *
   * @param failure what a request with that key is refused with now
   */
  public void revoke(Failure failure) {
    endNow(failure, End.REVOKED);
  }

  /** Nothing of it may go on for long: not even the way of its last bytes to a slow caller. */
  private void endNow(Failure failure, End brokenOff) {
    if (phase == Phase.ENDED) {
      return;
    }
    downstream.closeSoon();
    if (phase == Phase.DELIVERING) {
      undelivered = brokenOff;
    } else {
      conclude(failure, brokenOff);
    }
  }

  // What its connection tells.

  /** The caller takes bytes fast enough again, or no longer. */
  public void writabilityChanged(boolean writable) {
    // An answer that is held whole is in the budget until the caller has it.
    holdUnsent(writable || answerBody != null ? 0 : downstream.unsentBytes());
    if (attempt != null) {
      attempt.setReading(writable);
    }
  }

  private void holdUnsent(long nowBytes) {
    unsentBytes = downstream.context().budget().resize(unsentBytes, nowBytes);
  }

  /** The last bytes of the answer were written to the socket, or could not be. */
  public void delivered(boolean success) {
    if (phase == Phase.DELIVERING) {
      finish(success ? end : leftEnd());
    }
  }

  /** The caller is gone. */
  public void downstreamClosed() {
    if (phase != Phase.ENDED) {
      finish(leftEnd());
    }
  }

  /** An answer that was broken off ended so, whether its caller took the last of it or left. */
  private End leftEnd() {
    return end == End.DONE ? undelivered : end;
  }

  // What its attempt tells.

  /** The answer's body comes into this where it is held whole; released when the exchange ends. */
  HeldBody holdAnswer(int maxBytes) {
    answerBody = hold(MemoryBudget.Claim.ANSWER, maxBytes);
    return answerBody;
  }

  private HeldBody hold(MemoryBudget.Claim claim, int maxBytes) {
    return new HeldBody(downstream.alloc(), downstream.context().budget(), claim, maxBytes);
  }

  /** A relayed answer begins: its head is written next. */
  void beginAnswer(int answerStatus) {
    phase = Phase.ANSWERING;
    status = answerStatus;
    endRetry();
    releaseBody();
    // Nobody asks again: a stream may be long, and there may be many.
    head = null;
    target = null;
    body = null;
    facts = null;
    slotsLeft = null;
  }

  /** Whether events of this exchange's dialect have names. */
  boolean namesEvents() {
    return route instanceof Route.Forwarded forwarded
        && forwarded.operation().dialect() == Dialect.MESSAGES;
  }

  /** The caller has taken nothing for as long as an upstream may be silent. */
  void callerStalled() {
    downstream.abort();
  }

  /** Writes the last bytes of a relayed answer. */
  void endAnswer(ByteBuf lastBytes) {
    phase = Phase.DELIVERING;
    if (attempt != null) {
      attempt.answered();
      attempt = null;
    }
    releaseBody();
    // Before the bytes are sent: a caller who has read the end of its stream may start the next.
    releaseSlot();
    downstream.writeLast(lastBytes);
  }

  /** How long ago it began. */
  long elapsedNanos() {
    return clockNanos() - startedNanos;
  }

  /** An attempt has ended. */
  void tried(AttemptSummary tried) {
    List<AttemptSummary> all = new ArrayList<>(traced);
    all.add(tried);
    traced = all;
  }

  void countEvents(long relayed) {
    events = relayed;
  }

  /** What the upstream says that the answer took. */
  void used(Usage told) {
    usage = told;
  }

  /** The first bytes of its answer are written now; without effect the second time. */
  public void firstByte() {
    if (firstByteNanos < 0) {
      firstByteNanos = elapsedNanos();
    }
  }

  private void finish(End how) {
    phase = Phase.ENDED;
    cancelAttempt();
    endRetry();
    if (wholeTime != null) {
      wholeTime.disarm();
    }
    releaseBody();
    releaseSlot();
    releaseAnswer();
    holdUnsent(0);
    if (whenEnded != null) {
      whenEnded.run();
    }
    try {
      downstream.context().listener().ended(summary(how));
    } catch (RuntimeException e) {
      logger.error("fault of Sluice at the end of exchange {}", requestId, e);
    }
    downstream.exchangeEnded();
  }

  private ExchangeSummary summary(End how) {
    return new ExchangeSummary(
        startedMillis,
        requestId,
        trace,
        route.name(),
        cluster == null ? null : cluster.model().id(),
        plan == null ? null : plan.name(),
        key == null ? null : key.name(),
        status,
        reason,
        stream && lease != null,
        bytesIn,
        downstream.answerBytes(),
        events,
        usage,
        firstByteNanos,
        elapsedNanos(),
        endpoint == null ? null : endpoint.endpoint(),
        attempts,
        traced,
        retriedReason,
        retryDenied,
        how);
  }

  /** What is known of it now. */
  public OpenExchange asItIs() {
    return new OpenExchange(
        requestId,
        route.name(),
        cluster == null ? null : cluster.model().id(),
        plan == null ? null : plan.name(),
        key == null ? null : key.name(),
        openPhase(),
        stream && lease != null,
        endpoint == null ? null : endpoint.id(),
        attempts,
        startedNanos,
        elapsedNanos(),
        bytesIn,
        downstream.answerBytes(),
        events);
  }

  private OpenExchange.Phase openPhase() {
    return switch (phase) {
      case OPEN ->
          attempt == null
              ? OpenExchange.Phase.OPEN
              : attempt.isConnecting() ? OpenExchange.Phase.CONNECTING : OpenExchange.Phase.WAITING;
      case ANSWERING -> OpenExchange.Phase.ANSWERING;
      case DELIVERING, ENDED -> OpenExchange.Phase.DELIVERING;
    };
  }

  /** When its head had come, as {@link System#nanoTime()}. */
  public long startedNanos() {
    return startedNanos;
  }

  private @Nullable Attempt cancelAttempt() {
    Attempt cancelled = attempt;
    attempt = null;
    if (cancelled != null) {
      cancelled.cancel();
    }
    return cancelled;
  }

  private void releaseBody() {
    if (body != null) {
      body.release();
    }
  }

  private void releaseAnswer() {
    if (answerBody != null) {
      answerBody.release();
      answerBody = null;
    }
  }

  private void endRetry() {
    if (retrying) {
      retrying = false;
      cluster().endRetry();
    }
  }

  /** The clock now. */
  private long clockNanos() {
    return downstream.context().timer().readClock();
  }

  /** The clock at the loop's last tick: good enough to pick by. */
  private long nowNanos() {
    return downstream.context().timer().nowNanos();
  }

  private void releaseSlot() {
    if (lease != null) {
      lease.release();
    }
  }

  private static <T> T require(@Nullable T value, String name) {
    if (value == null) {
      throw new IllegalStateException(name + ": not known yet (expected: set by an earlier rule)");
    }
    return value;
  }
}
