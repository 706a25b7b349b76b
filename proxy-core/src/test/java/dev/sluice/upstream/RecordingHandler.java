package dev.sluice.upstream;

import dev.sluice.http.BodyFraming;
import dev.sluice.http.ResponseHead;
import dev.sluice.sse.BodyScanner;
import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Sends one request when it can, reads the answer to its end, and tells the test what it heard. */
final class RecordingHandler implements AnswerHandler {
  static final String REQUEST = "POST /x HTTP/1.1\r\nhost: h\r\n\r\n";

  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
  private final int bodyBytes;
  private final StringBuilder body = new StringBuilder();
  private @Nullable BodyScanner scanner;
  volatile @Nullable UpstreamConnection connection;

  RecordingHandler() {
    this(0);
  }

  /**
   * @param bodyBytes how large a body to send
   */
  RecordingHandler(int bodyBytes) {
    this.bodyBytes = bodyBytes;
  }

  /** The next thing that it heard. */
  String next() throws InterruptedException {
    String next = heard.poll(10, TimeUnit.SECONDS);
    if (next == null) {
      throw new AssertionError("heard nothing");
    }
    return next;
  }

  boolean heardNothingMore() {
    return heard.isEmpty();
  }

  @Override
  public void connected(UpstreamConnection connected) {
    connection = connected;
    heard.add("connected");
    ByteBuf sent = bodyBytes == 0 ? Unpooled.EMPTY_BUFFER : Bytes.of("x".repeat(bodyBytes));
    connected.send(Bytes.of(REQUEST), sent);
  }

  @Override
  public Next head(ResponseHead head, BodyFraming framing) {
    scanner = new BodyScanner(framing);
    heard.add("head " + head.status());
    return Next.READ_ON;
  }

  @Override
  public Next body(ByteBuf bytes) {
    BodyScanner reading = scanner;
    if (reading == null) {
      throw new AssertionError("a body before a head");
    }
    try {
      while (true) {
        int next = reading.next(bytes);
        if (next > 0) {
          body.append(Bytes.text(bytes.readRetainedSlice(next)));
          reading.took(next);
        } else if (next == BodyScanner.END) {
          heard.add("body " + body);
          return bytes.isReadable() ? Next.CLOSE : Next.REUSE;
        } else if (next == BodyScanner.MORE) {
          return Next.READ_ON;
        }
      }
    } finally {
      bytes.release();
    }
  }

  @Override
  public void readComplete() {}

  @Override
  public void malformed() {
    heard.add("malformed");
  }

  @Override
  public void closed(boolean stale, boolean orderly) {
    heard.add((stale ? "stale" : "closed") + (orderly ? " orderly" : ""));
  }

  @Override
  public void fault(Throwable cause) {
    heard.add("fault " + cause);
  }
}
