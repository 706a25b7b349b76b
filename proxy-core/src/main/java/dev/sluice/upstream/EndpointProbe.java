package dev.sluice.upstream;

import dev.sluice.cluster.Cluster;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Probe;
import dev.sluice.http.BodyFraming;
import dev.sluice.http.HeadWriter;
import dev.sluice.http.ResponseHead;
import dev.sluice.timer.Deadline;
import dev.sluice.timer.LoopTimer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Probes one endpoint again and again. Event loop only. */
final class EndpointProbe implements AnswerHandler {
  private static final Logger logger = LoggerFactory.getLogger(EndpointProbe.class);

  private final LoopTimer timer;
  private final ConnectionPool pool;
  private final Cluster cluster;
  private final LiveEndpoint live;
  private final Probe probe;
  private final Deadline deadline;
  private boolean asking;
  private boolean connected;
  private @Nullable UpstreamConnection connection;

  EndpointProbe(
      LoopTimer timer, ConnectionPool pool, Cluster cluster, LiveEndpoint live, Probe probe) {
    this.timer = timer;
    this.pool = pool;
    this.cluster = cluster;
    this.live = live;
    this.probe = probe;
    this.deadline =
        new Deadline(timer) {
          @Override
          protected void expired() {
            if (asking) {
              ended("no answer in time");
            } else {
              start();
            }
          }
        };
  }

  /** Probes once, and then again and again. */
  void start() {
    asking = true;
    connected = false;
    deadline.arm(probe.timeout().toNanos());
    // A connection of its own: one that is kept says nothing of whether a new one can be made.
    UpstreamConnection made = pool.acquire(cluster.model(), live.endpoint(), true, this);
    if (asking) {
      connection = made;
    }
  }

  /** Ends it, the probe that is under way included. */
  void cancel() {
    asking = false;
    deadline.disarm();
    close();
  }

  private void ended(@Nullable String fault) {
    asking = false;
    close();
    deadline.arm(probe.interval().toNanos());
    cluster.probed(live, fault, timer.nowNanos());
  }

  private void close() {
    UpstreamConnection open = connection;
    connection = null;
    if (open != null) {
      open.cancel();
    }
  }

  @Override
  public void connected(UpstreamConnection open) {
    connection = open;
    connected = true;
    open.send(request(), Unpooled.EMPTY_BUFFER);
  }

  private ByteBuf request() {
    Endpoint endpoint = live.endpoint();
    HeadWriter head = HeadWriter.begin();
    head.text("GET " + endpoint.basePath() + probe.path() + " HTTP/1.1").endOfLine();
    head.header("host", endpoint.authority());
    if (endpoint.credential() != null) {
      head.header("authorization", "Bearer " + endpoint.credential());
    }
    head.header("user-agent", "sluice-probe");
    head.header("connection", "close");
    return head.endOfLine().toBuffer(ByteBufAllocator.DEFAULT, 0);
  }

  @Override
  public Next head(ResponseHead head, BodyFraming framing) {
    connection = null; // closed by what is returned
    int status = head.status();
    ended(status >= 200 && status <= 299 ? null : "status " + status);
    return Next.CLOSE; // whatever its body says, and however much
  }

  @Override
  public Next body(ByteBuf bytes) {
    bytes.release();
    return Next.CLOSE;
  }

  @Override
  public void readComplete() {}

  @Override
  public void malformed() {
    connection = null;
    ended("not HTTP");
  }

  @Override
  public void closed(boolean stale, boolean orderly) {
    connection = null;
    ended(connected ? "closed without an answer" : "not connected");
  }

  @Override
  public void fault(Throwable cause) {
    connection = null;
    logger.error("fault of Sluice in a probe of endpoint {}", live, cause);
    ended("a fault of Sluice");
  }
}
