package dev.sluice.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.LeakPresenceDetector;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

@ResourceLock(Resources.SYSTEM_OUT)
class BenchmarksTest {
  /** As short as can be: each checks at its set-up that it does what it says. */
  private static final String[] ONCE = "-f 0 -wi 0 -i 1 -r 1ms -foe true -v SILENT".split(" ", -1);

  @TempDir Path scratch;

  @ParameterizedTest
  @CsvSource({
    "-h, -wi <int>",
    "-l, FramingBenchmark",
    "-lp, 1000000",
    "-lprof, gc",
    "-lrf, json",
  })
  void whatAsksForAListRunsNothing(String option, String listed) throws Exception {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(written, true, UTF_8));
    try {
      Benchmarks.run(option, "-f", "0", "-wi", "0", "-i", "1", "-r", "1ms");
    } finally {
      System.setOut(before);
    }

    assertThat(written.toString(UTF_8)).contains(listed).doesNotContain("# Run progress");
  }

  @Test
  void everyBenchmarkRunsAndLeaksNothing() throws Exception {
    String out = scratch.resolve("out").toString();
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .parent(Benchmarks.options(new CommandLineOptions(ONCE)))
                    .output(out)
                    .build())
            .run();

    Set<String> packages =
        results.stream()
            .map(result -> result.getParams().getBenchmark().split("\\.", -1)[2])
            .collect(Collectors.toSet());
    assertThat(packages)
        .containsExactlyInAnyOrder("sse", "message", "access", "slots", "error", "pipeline");
    assertThat(results)
        .allSatisfy(
            result -> {
              assertThat(result.getPrimaryResult().getScore()).isPositive();
              assertThat(result.getPrimaryResult().getScoreUnit()).isEqualTo("ns/op");
              assertThat(result.getSecondaryResults()).containsKey("gc.alloc.rate.norm");
            });
    LeakPresenceDetector.check();
  }
}
