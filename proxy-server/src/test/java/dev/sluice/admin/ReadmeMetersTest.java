package dev.sluice.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.telemetry.Meters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ReadmeMetersTest {
  private static final String BEGIN = "<!-- meters -->\n";
  private static final String END = "<!-- /meters -->";

  @Test
  void theTableOfMetersInTheReadmeIsThatOfTheEnum() throws IOException {
    String readme = Files.readString(Path.of("../README.md"));
    assertThat(readme).containsOnlyOnce(BEGIN).containsOnlyOnce(END);
    String table = readme.substring(readme.indexOf(BEGIN) + BEGIN.length(), readme.indexOf(END));

    assertThat(table.strip()).isEqualTo(Meters.markdown().strip());
  }
}
