package dev.sluice.accesslog;

import dev.sluice.exchange.ExchangeListener;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.telemetry.AccessLogLine;
import dev.sluice.telemetry.Meters;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes one line for each exchange, from a thread of its own. Event loops put the summary into a
 * bounded queue and never wait; a line for which there is no room is dropped and counted.
 *
 * <table>
 *   <caption>Bounds</caption>
 *   <tr><td>queue</td><td>16 384 exchanges; past it lines are dropped, one warning a minute</td></tr>
 *   <tr><td>delay</td><td>a line is written at most about 50 ms after its exchange ended</td></tr>
 *   <tr><td>rotation</td><td>a file that was moved away is noticed within a second</td></tr>
 *   <tr><td>close</td><td>waits at most 5 s for what is queued</td></tr>
 * </table>
 */
public final class AccessLog implements ExchangeListener, AutoCloseable {
  /*
   * Producers touch a lock-free queue and a counter, nothing else. They do not wake the writer for
   * each exchange: a wake-up is a system call of some microseconds on the event loop. The writer
   * looks every 50 ms instead, or when half the queue is full, and writes what has gathered in one
   * go.
   *
   * What the writer has taken from the queue stays in `pending` until it is written. While the disk
   * is full, the queue fills behind it and then drops; when there is room again, writing goes on at
   * the very byte where it stopped, so that a line is neither lost nor torn.
   */
  private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);
  private static final int CAPACITY = 16_384;
  private static final int BATCH_CHARS = 64 << 10;
  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long REOPEN_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long WARN_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  private final LogOutput output;
  private final LongSupplier nanoTime;
  private final Consumer<String> warnings;
  private final int capacity;

  private final ConcurrentLinkedQueue<ExchangeSummary> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger queued = new AtomicInteger();
  private final LongAdder dropped = new LongAdder();
  private final LongAdder writeErrors = new LongAdder();

  private final Thread writer = new Thread(this::run, "access-log");
  private final Semaphore wake = new Semaphore(0);
  private volatile boolean closing;

  // Writer thread only.
  private final StringBuilder batch = new StringBuilder(BATCH_CHARS + 1_024);
  private ByteBuffer pending = ByteBuffer.allocate(0);
  private long reopenCheckedNanos;
  private long warnedNanos;
  private long warnedDropped;
  private long warnedWriteErrors;
  private String lastWriteError = "";

  AccessLog(LogOutput output, LongSupplier nanoTime, Consumer<String> warnings, int capacity) {
    this.output = output;
    this.nanoTime = nanoTime;
    this.warnings = warnings;
    this.capacity = capacity;
    this.reopenCheckedNanos = nanoTime.getAsLong();
    this.warnedNanos = nanoTime.getAsLong() - WARN_NANOS;
    this.writer.setDaemon(true);
  }

  /** A log on the process's standard output; its writer runs. */
  public static AccessLog toStandardOutput() {
    return started(new StandardOutput());
  }

  /**
   * A log that is appended to a file; its writer runs. The file is opened anew where it was moved
   * away or deleted, as rotation does.
   *
   * @throws IOException when the file cannot be opened; the message names it
   */
  public static AccessLog toFile(Path file) throws IOException {
    try {
      return started(new LogFile(file));
    } catch (IOException e) {
      throw new IOException(
          "access-log: " + file + " (expected: a file that can be appended to): " + e, e);
    }
  }

  private static AccessLog started(LogOutput output) {
    AccessLog log = new AccessLog(output, System::nanoTime, LOG::warn, CAPACITY);
    log.start();
    return log;
  }

  /** Registers the counters of lines dropped and of failed writes. */
  public void bindTo(MeterRegistry registry) {
    Meters.ACCESS_LOG_DROPPED.counter(registry, dropped::sum);
    Meters.ACCESS_LOG_WRITE_ERRORS.counter(registry, writeErrors::sum);
  }

  /** Queues the exchange's line, or drops it where the queue is full. Any thread; never waits. */
  @Override
  public void ended(ExchangeSummary summary) {
    if (closing) {
      dropped.increment();
      return;
    }
    int waiting = queued.incrementAndGet();
    if (waiting > capacity) {
      queued.decrementAndGet();
      dropped.increment();
      return;
    }
    queue.add(summary);
    if (waiting == capacity / 2) {
      wake.release();
    }
  }

  /**
   * Writes what is queued, for at most 5 s, and closes the file. Lines that could not be written by
   * then, and those of exchanges that end later, are dropped and counted.
   */
  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  void start() {
    writer.start();
  }

  void close(Duration timeout) {
    closing = true;
    wake.release();
    try {
      writer.join(timeout.toMillis());
      if (writer.isAlive()) {
        warnings.accept("access-log: not written within " + timeout + ": its reader is stuck");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  long droppedLines() {
    return dropped.sum();
  }

  long failedWrites() {
    return writeErrors.sum();
  }

  private void run() {
    try {
      while (!closing) {
        if (!round() && wake.tryAcquire(ROUND_NANOS, TimeUnit.NANOSECONDS)) {
          wake.drainPermits();
        }
      }
    } catch (InterruptedException e) {
      closing = true; // nobody but the end of the process interrupts it
    }
    while (round()) {
      // Until the queue is empty, or cannot be written.
    }
    finish();
  }

  /**
   * Writes one batch of what is queued, and warns of what could not be written.
   *
   * @return whether more is waiting that can be written at once
   */
  boolean round() {
    boolean more = false;
    try {
      reopenOncePerSecond();
      more = writeBatch();
    } catch (IOException | RuntimeException e) {
      failed(e);
    }
    warnOncePerMinute();
    return more;
  }

  private boolean writeBatch() throws IOException {
    boolean resumed = pending.hasRemaining();
    if (!resumed) {
      fillPending();
    }
    while (pending.hasRemaining()) {
      int before = pending.position();
      output.write(pending);
      if (pending.position() == before) {
        return false; // A full pipe that somebody set to non-blocking.
      }
    }
    return !queue.isEmpty() && (resumed || batch.length() >= BATCH_CHARS);
  }

  private void fillPending() {
    batch.setLength(0);
    while (batch.length() < BATCH_CHARS) {
      ExchangeSummary summary = queue.poll();
      if (summary == null) {
        break;
      }
      queued.decrementAndGet();
      AccessLogLine.append(batch, summary);
    }
    pending = StandardCharsets.UTF_8.encode(batch.toString());
  }

  private void reopenOncePerSecond() {
    long now = nanoTime.getAsLong();
    if (now - reopenCheckedNanos < REOPEN_NANOS) {
      return;
    }
    reopenCheckedNanos = now;
    try {
      if (output.reopenIfMoved()) {
        backToStartOfLine();
      }
    } catch (IOException e) {
      // The old file is still open: better there than nowhere.
      failed(e);
    }
  }

  private void failed(Exception e) {
    writeErrors.increment();
    lastWriteError = e.toString();
  }

  /** A line that was begun in a file that is gone is written whole into the new one. */
  private void backToStartOfLine() {
    int start = pending.position();
    while (start > 0 && pending.get(start - 1) != '\n') {
      start--;
    }
    pending.position(start);
  }

  private void warnOncePerMinute() {
    long now = nanoTime.getAsLong();
    if (now - warnedNanos < WARN_NANOS) {
      return;
    }
    long drops = dropped.sum() - warnedDropped;
    long errors = writeErrors.sum() - warnedWriteErrors;
    if (drops == 0 && errors == 0) {
      return;
    }
    warnedNanos = now;
    warnedDropped += drops;
    warnedWriteErrors += errors;
    warnings.accept(
        "access-log: "
            + drops
            + " lines dropped, "
            + errors
            + " failed writes since the last warning (expected: 0)"
            + (errors == 0 ? "" : ": " + lastWriteError));
  }

  private void finish() {
    long left = 0;
    while (pending.hasRemaining()) {
      left += pending.get() == '\n' ? 1 : 0;
    }
    while (queue.poll() != null) {
      left++;
    }
    if (left > 0) {
      dropped.add(left);
      warnings.accept("access-log: " + left + " lines not written at the end (expected: 0)");
    }
    try {
      output.close();
    } catch (IOException e) {
      writeErrors.increment();
      warnings.accept("access-log: not closed: " + e);
    }
  }
}
