package dev.sluice.accesslog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk is full, or full for a while, or there is no place to write to at all. */
class DiskTroubleTest {
  private final FakeClock clock = new FakeClock();
  private final List<String> warnings = new ArrayList<>();

  @TempDir private Path directory;

  @Test
  void linesWaitWhileTheDiskIsFullAndAreWrittenWhenItIsReplaced() throws IOException {
    Path file = Files.createSymbolicLink(directory.resolve("log"), Path.of("/dev/full"));
    AccessLog log = log(new LogFile(file), 100);
    log.ended(Lines.exchange(0));
    assertThat(log.round()).isFalse();
    log.ended(Lines.exchange(1));
    assertThat(log.round()).isFalse();
    assertThat(log.failedWrites()).isEqualTo(2);

    Files.delete(file);
    clock.advance(Duration.ofSeconds(1));
    log.round();
    log.round();

    assertThat(file).hasContent(Lines.of(0, 2));
    assertThat(log.droppedLines()).isZero();
  }

  @Test
  void aFullDiskIsWarnedOfOnceAMinuteHoweverOftenItFails() throws IOException {
    AccessLog log = log(new LogFile(Path.of("/dev/full")), 100);
    log.ended(Lines.exchange(0));
    for (int i = 0; i < 59 * 20; i++) {
      log.round();
      clock.advance(Duration.ofMillis(50));
    }
    assertThat(warnings)
        .singleElement()
        .asString()
        .startsWith("access-log: 0 lines dropped, 1 failed writes since the last warning")
        .contains("No space left on device");

    clock.advance(Duration.ofSeconds(1));
    log.round();

    assertThat(warnings).hasSize(2);
    assertThat(warnings.get(1)).contains(" 1180 failed writes since");
    assertThat(log.failedWrites()).isEqualTo(59 * 20 + 1);
  }

  @Test
  void linesPastTheQueueAreDroppedWhileTheDiskIsFullAndNoOtherIsLost() throws IOException {
    Disk disk = new Disk();
    disk.freeBytes = 0;
    AccessLog log = log(disk, 10);
    log.ended(Lines.exchange(0));
    log.round();
    for (int number = 1; number < 30; number++) {
      log.ended(Lines.exchange(number));
      log.round();
    }
    assertThat(log.droppedLines()).isEqualTo(19);

    disk.freeBytes = Integer.MAX_VALUE;
    log.round();
    log.round();

    assertThat(disk.written()).isEqualTo(Lines.of(0, 11));
  }

  @Test
  void writingGoesOnAtTheByteWhereTheDiskWasFull() throws IOException {
    String expected = Lines.of(0, 3);
    for (int room = 0; room < expected.length(); room += 7) {
      Disk disk = new Disk();
      disk.freeBytes = room;
      AccessLog log = log(disk, 10);
      log.ended(Lines.exchange(0));
      log.ended(Lines.exchange(1));
      log.ended(Lines.exchange(2));
      log.round();
      assertThat(disk.written()).hasSize(room);

      disk.freeBytes = Integer.MAX_VALUE;
      log.round();

      assertThat(disk.written()).isEqualTo(expected);
    }
  }

  @Test
  void aLineBegunInAFileThatIsGoneIsWrittenWholeIntoTheNewOne() throws IOException {
    String expected = Lines.of(0, 3);
    int secondLine = expected.indexOf('\n') + 1;
    Disk disk = new Disk();
    disk.freeBytes = secondLine + 20;
    AccessLog log = log(disk, 10);
    log.ended(Lines.exchange(0));
    log.ended(Lines.exchange(1));
    log.ended(Lines.exchange(2));
    log.round();

    disk.replace();
    clock.advance(Duration.ofSeconds(1));
    log.round();

    assertThat(disk.written()).isEqualTo(expected.substring(secondLine));
  }

  @Test
  void whatWaitedBehindAFullDiskIsWrittenInOneGoAtTheEnd() throws IOException {
    Disk disk = new Disk();
    disk.freeBytes = 5;
    AccessLog log = log(disk, 10);
    log.ended(Lines.exchange(0));
    log.round();
    log.ended(Lines.exchange(1));
    log.ended(Lines.exchange(2));

    disk.freeBytes = Integer.MAX_VALUE;
    log.start();
    log.close();

    assertThat(disk.written()).isEqualTo(Lines.of(0, 3));
    assertThat(log.droppedLines()).isZero();
  }

  @Test
  void anOutputThatTakesNothingIsTriedAgainNextRoundWithoutSpinning() throws IOException {
    Disk disk = new Disk();
    disk.takesNothing = true;
    AccessLog log = log(disk, 10);
    log.ended(Lines.exchange(0));

    assertThat(log.round()).isFalse();
    disk.takesNothing = false;
    log.round();

    assertThat(disk.written()).isEqualTo(Lines.of(0, 1));
    assertThat(log.failedWrites()).isZero();
  }

  @Test
  void aFileThatCannotBeOpenedIsRefusedAtTheStartByName() {
    assertThatThrownBy(() -> AccessLog.toFile(directory))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(
            "access-log: " + directory + " (expected: a file that can be appended to): ");
    Path nowhere = directory.resolve("none").resolve("log");
    assertThatThrownBy(() -> AccessLog.toFile(nowhere))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(nowhere.toString());
  }

  private AccessLog log(LogOutput output, int capacity) {
    return new AccessLog(output, clock, warnings::add, capacity);
  }

  /** A disk with so much room. */
  private static final class Disk implements LogOutput {
    private StringBuilder written = new StringBuilder();
    private int freeBytes = Integer.MAX_VALUE;
    private boolean takesNothing;
    private boolean replaced;

    void replace() {
      replaced = true;
    }

    String written() {
      return written.toString();
    }

    @Override
    public boolean reopenIfMoved() {
      boolean reopened = replaced;
      if (replaced) {
        written = new StringBuilder();
        freeBytes = Integer.MAX_VALUE;
        replaced = false;
      }
      return reopened;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      if (takesNothing) {
        return;
      }
      if (freeBytes == 0) {
        throw new IOException("No space left on device");
      }
      byte[] taken = new byte[Math.min(freeBytes, bytes.remaining())];
      bytes.get(taken);
      freeBytes -= taken.length;
      written.append(new String(taken, StandardCharsets.UTF_8));
    }

    @Override
    public void close() {}
  }
}
