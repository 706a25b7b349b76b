package dev.sluice.accesslog;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file is moved away, deleted or replaced under the log, as rotation does. */
class RotationTest {
  private final FakeClock clock = new FakeClock();
  private final List<String> warnings = new ArrayList<>();

  @TempDir private Path directory;
  private Path file;
  private LogFile output;
  private AccessLog log;

  @BeforeEach
  void open() throws IOException {
    file = Files.createDirectory(directory.resolve("logs")).resolve("access.log");
    output = new LogFile(file);
    log = new AccessLog(output, clock, warnings::add, 100);
    write(0);
  }

  @AfterEach
  void close() throws IOException {
    output.close();
  }

  @Test
  void aFileThatWasMovedAwayIsMadeAnewWithinASecond() throws IOException {
    Path moved = Files.move(file, directory.resolve("access.log.1"));
    write(1);
    assertThat(file).doesNotExist();

    clock.advance(Duration.ofSeconds(1));
    write(2);
    write(3);

    assertThat(moved).hasContent(Lines.of(0, 2));
    assertThat(file).hasContent(Lines.of(2, 4));
  }

  @Test
  void aFileThatWasReplacedIsAppendedTo() throws IOException {
    Files.move(file, directory.resolve("access.log.1"));
    Files.writeString(file, "made by rotation\n");

    clock.advance(Duration.ofSeconds(1));
    write(1);

    assertThat(file).hasContent("made by rotation\n" + Lines.of(1, 2));
  }

  @Test
  void aFileThatWasDeletedIsMadeAnew() throws IOException {
    Files.delete(file);

    clock.advance(Duration.ofSeconds(1));
    write(1);

    assertThat(file).hasContent(Lines.of(1, 2));
  }

  @Test
  void aFileThatWasTruncatedInPlaceGoesOnAtItsStart() throws IOException {
    Files.write(file, new byte[0]);
    write(1);

    assertThat(file).hasContent(Lines.of(1, 2));
  }

  @Test
  void rotationAfterRotationIsNoticed() throws IOException {
    for (int number = 1; number < 10; number++) {
      Files.move(file, directory.resolve("access.log." + number));
      clock.advance(Duration.ofSeconds(1));
      write(number);

      assertThat(file).hasContent(Lines.of(number, number + 1));
    }
    assertThat(log.failedWrites()).isZero();
  }

  @Test
  void whereTheDirectoryIsGoneTheOldFileIsKeptUntilItIsBack() throws IOException {
    Path moved = Files.move(file.getParent(), directory.resolve("moved")).resolve("access.log");
    clock.advance(Duration.ofSeconds(1));
    write(1);
    assertThat(moved).hasContent(Lines.of(0, 2));
    assertThat(log.failedWrites()).isEqualTo(1);
    assertThat(warnings).singleElement().asString().contains("1 failed writes");

    Files.createDirectory(file.getParent());
    clock.advance(Duration.ofSeconds(1));
    write(2);

    assertThat(file).hasContent(Lines.of(2, 3));
    assertThat(log.droppedLines()).isZero();
  }

  private void write(int number) {
    log.ended(Lines.exchange(number));
    log.round();
  }
}
