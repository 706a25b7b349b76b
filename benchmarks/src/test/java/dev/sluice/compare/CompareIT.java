package dev.sluice.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The whole comparison, in seconds, of Sluice alone: nobody has to have the others to build it. */
@EnabledOnOs(OS.LINUX)
class CompareIT {
  @TempDir Path out;

  private final StringWriter console = new StringWriter();

  @Test
  void measuresAProcessAndWritesDownWhatItCost() throws Exception {
    int code =
        compare("--proxies sluice --rounds 1 --seconds 1 --warm-up 0 --only first-byte,body-size");

    assertThat(code).as(console.toString()).isZero();
    String tables = Files.readString(out.resolve("tables.txt"));
    assertThat(console.toString()).contains(tables);
    assertThat(tables)
        .contains("first-byte: ", "body-size: ", "CPU us", "p99.9 us", "own CPU %")
        .containsPattern("200 +sluice")
        .containsPattern("100000 +sluice");
    assertThat(Files.readString(out.resolve("samples.csv")))
        .contains("first-byte,200,sluice,1,p99 us,")
        .contains("body-size,10000,sluice,1,CPU us,");
    assertThat(out.resolve("first-byte-latency.svg")).content().contains("<polyline");
    assertThat(out.resolve("body-size-cpu.svg")).content().contains("<polyline");
  }

  @Test
  void refusesWhatCannotBeMeasured() {
    assertThat(compare("--only relay,coffee")).isEqualTo(2);
    assertThat(compare("--proxies sluice,squid")).isEqualTo(2);
    assertThat(console.toString())
        .contains("--only: [relay, coffee] (expected: names of measurements")
        .contains("--proxies: [sluice, squid] (expected: of [sluice, nginx, haproxy])");
  }

  @Test
  void saysHowToGetWhatIsMissing() {
    assertThatThrownBy(() -> Launcher.find("no-such-program"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("apt-get install nginx haproxy");
    assertThat(compare("--proxies sluice --only first-byte --jar no-such.jar")).isEqualTo(1);
    assertThat(console.toString()).contains("no-such.jar: missing (expected: built by mvn");
  }

  private int compare(String arguments) {
    PrintWriter printer = new PrintWriter(console);
    List<String> all = new ArrayList<>(List.of("--out", out.toString()));
    if (!arguments.contains("--jar")) {
      all.addAll(List.of("--jar", "../proxy-server/target/sluice.jar"));
    }
    all.addAll(List.of(arguments.split(" ", -1)));
    return CompareCommand.commandLine()
        .setOut(printer)
        .setErr(printer)
        .execute(all.toArray(String[]::new));
  }
}
