package dev.sluice.sse;

import dev.sluice.http.BodyFraming;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What the relay has to look at: chunk framing and event boundaries of one read, of a stream that
 * never ends.
 */
@State(Scope.Thread)
public class FramingBenchmark {
  /** What the relay reads at most at once. */
  private static final int READ_BYTES = 8 << 10;

  /** Size of one event with its empty line, in bytes. */
  @Param({"20", "200", "4096"})
  public int eventBytes;

  private final BodyScanner scanner =
      new BodyScanner(new BodyFraming(BodyFraming.Kind.CHUNKED, 0, null));
  private final EventScanner events = new EventScanner(Terminator.DONE);
  private ByteBuf event;
  private ByteBuf fullRead;

  @Setup
  public void fill() {
    String chunk = Integer.toHexString(eventBytes) + "\r\ndata: " + "x".repeat(eventBytes - 8);
    byte[] bytes = (chunk + "\n\n\r\n").getBytes(StandardCharsets.US_ASCII);
    event = ByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
    fullRead = ByteBufAllocator.DEFAULT.directBuffer(READ_BYTES);
    while (fullRead.writableBytes() >= bytes.length) {
      fullRead.writeBytes(bytes);
    }
    if (oneEvent() != 1) {
      throw new IllegalStateException("events: " + events.events() + " (expected: 1)");
    }
  }

  @TearDown
  public void release() {
    event.release();
    fullRead.release();
  }

  /** One event in one chunk in one read: nearly all reads of a stream. */
  @Benchmark
  public long oneEvent() {
    return scan(event);
  }

  /** A read as full of such chunks as it gets: an upstream that is ahead of the relay. */
  @Benchmark
  public long fullRead() {
    return scan(fullRead);
  }

  private long scan(ByteBuf read) {
    read.readerIndex(0);
    int payload;
    while ((payload = scanner.next(read)) != BodyScanner.MORE) {
      if (payload > 0) {
        events.scan(read, read.readerIndex(), payload);
        read.skipBytes(payload);
        scanner.took(payload);
      } else if (payload != BodyScanner.CHUNK_END) {
        throw new IllegalStateException("scanner: " + payload + " (expected: a chunk)");
      }
    }
    return events.events();
  }
}
