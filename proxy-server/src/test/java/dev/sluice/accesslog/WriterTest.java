package dev.sluice.accesslog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.telemetry.Meters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The thread that writes, and those that must not wait for it. */
@Timeout(60)
class WriterTest {
  private final List<String> warnings = new CopyOnWriteArrayList<>();

  @TempDir private Path directory;

  @Test
  void closingWritesWhatIsQueued() throws IOException {
    Path file = directory.resolve("log");
    Files.writeString(file, "from before\n");
    AccessLog log = AccessLog.toFile(file);
    for (int number = 0; number < 5_000; number++) {
      log.ended(Lines.exchange(number));
    }
    log.close();

    assertThat(Files.readString(file)).isEqualTo("from before\n" + Lines.of(0, 5_000));
    assertThat(log.droppedLines()).isZero();
  }

  @Test
  void whatManyThreadsWriteIsWrittenOnceInWholeLinesOrCountedAsDropped() throws Exception {
    Path file = directory.resolve("log");
    AccessLog log = AccessLog.toFile(file);
    int threads = 4;
    int each = 20_000;
    List<Thread> producers = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      int from = thread * each;
      Thread producer =
          new Thread(
              () -> {
                for (int number = from; number < from + each; number++) {
                  log.ended(Lines.exchange(number));
                }
              });
      producer.start();
      producers.add(producer);
    }
    for (Thread producer : producers) {
      producer.join();
    }
    log.close();

    List<String> lines = Files.readAllLines(file);
    Set<String> ids = new HashSet<>();
    for (String line : lines) {
      assertThat(line).startsWith("{\"time\":\"").endsWith("\"end\":\"done\"}");
      ids.add(line.substring(line.indexOf("req_"), line.indexOf("\",\"operation\"")));
    }
    assertThat(ids).hasSameSizeAs(lines);
    assertThat(lines.size() + log.droppedLines()).isEqualTo((long) threads * each);
  }

  @Test
  void nobodyWaitsForAnOutputThatIsStuckAndClosingGivesUpInTime() throws Exception {
    StuckOutput output = new StuckOutput();
    AccessLog log = new AccessLog(output, System::nanoTime, warnings::add, 1_000);
    log.start();
    log.ended(Lines.exchange(0));
    assertThat(output.stuck.await(30, TimeUnit.SECONDS)).isTrue();

    for (int number = 1; number <= 5_000; number++) {
      log.ended(Lines.exchange(number));
    }
    assertThat(log.droppedLines()).isEqualTo(4_000);
    log.close(Duration.ofMillis(20));
    assertThat(warnings).anyMatch(warning -> warning.contains("not written within"));

    output.freed.countDown();
    assertThat(output.closed.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(output.lines).isEqualTo(1_001);
  }

  @Test
  void exchangesAfterTheEndAreCountedAsDropped() throws IOException {
    Path file = directory.resolve("log");
    AccessLog log = AccessLog.toFile(file);
    log.close();
    log.ended(Lines.exchange(0));

    assertThat(log.droppedLines()).isEqualTo(1);
    assertThat(file).isEmptyFile();
  }

  @Test
  void linesThatCannotBeWrittenAtTheEndAreCounted() throws Exception {
    MeterRegistry registry = new SimpleMeterRegistry();
    AccessLog log = AccessLog.toFile(Path.of("/dev/full"));
    log.bindTo(registry);
    for (int number = 0; number < 3; number++) {
      log.ended(Lines.exchange(number));
    }
    log.close();

    assertThat(log.droppedLines()).isEqualTo(3);
    assertThat(count(registry, Meters.ACCESS_LOG_DROPPED)).isEqualTo(3);
    assertThat(count(registry, Meters.ACCESS_LOG_WRITE_ERRORS)).isPositive();
  }

  @Test
  void aProcessWritesItsLinesToItsStandardOutputAndNothingElse() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                ThreeLines.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).isZero();
    assertThat(output).isEqualTo(Lines.of(0, 3));
  }

  /** Logs three lines to its standard output. */
  static final class ThreeLines {
    private ThreeLines() {}

    public static void main(String[] args) {
      try (AccessLog log = AccessLog.toStandardOutput()) {
        for (int number = 0; number < 3; number++) {
          log.ended(Lines.exchange(number));
        }
      }
    }
  }

  private static double count(MeterRegistry registry, Meters meter) {
    return registry.get(meter.prometheusName().replace('_', '.')).functionCounter().count();
  }

  /** Takes nothing until it is freed. */
  private static final class StuckOutput implements LogOutput {
    private final CountDownLatch stuck = new CountDownLatch(1);
    private final CountDownLatch freed = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private int lines; // read after closed

    @Override
    public boolean reopenIfMoved() {
      return false;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      stuck.countDown();
      try {
        freed.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      while (bytes.hasRemaining()) {
        lines += bytes.get() == '\n' ? 1 : 0;
      }
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }
}
