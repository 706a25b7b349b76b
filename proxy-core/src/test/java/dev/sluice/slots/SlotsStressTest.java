package dev.sluice.slots;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Runs {@link SlotsStress} in a process of its own, briefly; the report stays under target. */
class SlotsStressTest {
  private static final Path RESULTS = Path.of("target", "jcstress");
  private static final String OPTIONS =
      "-t dev.sluice.slots.SlotsStress -v -c 2 -f 1 -fsm 1 -iters 1 -time 200 -af NONE -sc false"
          + " -hs 128 -strideSize 256";

  @Test
  void noForbiddenOutcomeIsSeen() throws Exception {
    Files.createDirectories(RESULTS);
    File output = RESULTS.resolve("output.txt").toFile();
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:ActiveProcessorCount=2", // or it runs nothing where there is one
                "-cp",
                System.getProperty("java.class.path"),
                "org.openjdk.jcstress.Main",
                "-jvmArgs",
                "-Xmx128m -XX:+UseSerialGC"));
    // One short iteration in one fork a test, on two threads.
    command.addAll(List.of(OPTIONS.split(" ", -1)));
    Process jcstress =
        new ProcessBuilder(command)
            .directory(RESULTS.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output)
            .start();
    boolean ended = jcstress.waitFor(15, TimeUnit.MINUTES);
    jcstress.destroy();

    String report = Files.readString(output.toPath());
    assertThat(ended).as(report).isTrue();
    assertThat(report)
        .contains("RUN RESULTS:", "Failed tests: No matches.", "Error tests: No matches.")
        .contains("All remaining tests: 6 matching test results.");
    assertThat(jcstress.exitValue()).as(report).isZero();
  }
}
