package dev.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Runs all jcstress tests, briefly, in one process of their own, as it takes longer to start than
 * they do; the report stays under target.
 */
class StressTest {
  // One short iteration in one fork a test, on two threads.
  private static final String OPTIONS =
      "-v -c 2 -f 1 -fsm 1 -iters 1 -time 200 -af NONE -sc false -hs 128 -strideSize 256";
  private static final int TESTS = 12;

  @Test
  void noForbiddenOutcomeIsSeen() throws Exception {
    Path results = Path.of("target", "jcstress");
    Files.createDirectories(results);
    File output = results.resolve("output.txt").toFile();
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:ActiveProcessorCount=2", // or it runs nothing where there is one
                "-cp",
                System.getProperty("java.class.path"),
                "org.openjdk.jcstress.Main",
                "-jvmArgs",
                "-Xmx128m -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                "-t",
                "dev.sluice"));
    command.addAll(List.of(OPTIONS.split(" ", -1)));
    Process jcstress =
        new ProcessBuilder(command)
            .directory(results.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output)
            .start();
    boolean ended = jcstress.waitFor(15, TimeUnit.MINUTES);
    jcstress.destroy();

    String report = Files.readString(output.toPath());
    assertThat(ended).as(report).isTrue();
    assertThat(report)
        .contains("RUN RESULTS:", "Failed tests: No matches.", "Error tests: No matches.")
        .contains("All remaining tests: " + TESTS + " matching test results.");
    assertThat(jcstress.exitValue()).as(report).isZero();
  }
}
