package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs jcstress tests in a process of their own, briefly; the report stays under target. */
public final class Stress {
  // One short iteration in one fork a test, on two threads.
  private static final String OPTIONS =
      "-v -c 2 -f 1 -fsm 1 -iters 1 -time 200 -af NONE -sc false -hs 128 -strideSize 256";

  private Stress() {}

  /**
   * Fails where a forbidden outcome is seen.
   *
   * @param tests holds the tests
   * @param expected how many they are
   */
  public static void run(Class<?> tests, int expected) throws IOException, InterruptedException {
    Path results = Path.of("target", "jcstress", tests.getSimpleName());
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
                tests.getName()));
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
        .contains("All remaining tests: " + expected + " matching test results.");
    assertThat(jcstress.exitValue()).as(report).isZero();
  }
}
