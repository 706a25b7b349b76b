package dev.sluice.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.yaml.Fault;
import dev.sluice.yaml.Reading;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a file holds, reading it gives a configuration or faults, never an exception. */
final class ConfigFuzzTest {
  private static final int TEXTS = 1_000;

  private static final List<String> PIECES =
      List.of(
          "\n",
          " ",
          "  ",
          "\t",
          ":",
          ": ",
          "- ",
          "? ",
          "[",
          "]",
          "{",
          "}",
          ",",
          "\"",
          "'",
          "#",
          "&a ",
          "*a",
          "!t ",
          "!!str ",
          "| ",
          "> ",
          "|2+\n",
          "%",
          "@",
          "`",
          "~",
          "null",
          "true",
          "0",
          "-1",
          "99999999999999999999",
          "1e9",
          ".inf",
          "\\",
          "\"\\u0000\"",
          "\"\\ud800\"",
          "\u2028",
          "\ufeff",
          "\u0000",
          "\ud83d\ude00",
          "---\n",
          "...\n",
          "%YAML 1.2\n---\n",
          "<<: *a\n",
          "http://",
          "http://[",
          "@",
          "*",
          "unknown",
          "/v1/",
          "/v1/models",
          "32MiB",
          "9999999999h");

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void aMutatedFileIsReadOrRefused(long seed) {
    Random random = new Random(seed);
    int good = 0;
    for (int i = 0; i < TEXTS; i++) {
      byte[] contents = mutated(random);
      Reading<SluiceConfig> reading = ConfigText.read(directory, contents).config();
      if (reading instanceof Reading.Faulty<SluiceConfig> faulty) {
        long lines = new String(contents, UTF_8).split("\\R", -1).length;
        for (Fault fault : faulty.faults()) {
          assertThat(fault.line()).isBetween(0, (int) lines + 1);
          assertThat(fault.toString()).doesNotContain("\n").doesNotContain("up-secret");
        }
      } else {
        good++;
      }
    }
    assertThat(good).isBetween(1, TEXTS - 1);
  }

  private static byte[] mutated(Random random) {
    if (random.nextInt(20) == 0) {
      byte[] noise = new byte[random.nextInt(200)];
      random.nextBytes(noise);
      return noise;
    }
    StringBuilder text = new StringBuilder(ConfigText.WHOLE);
    for (int i = random.nextInt(5); i >= 0 && !text.isEmpty(); i--) {
      int at = random.nextInt(text.length());
      int end = Math.min(text.length(), at + 1 + random.nextInt(12));
      switch (random.nextInt(5)) {
        case 0 -> text.insert(at, PIECES.get(random.nextInt(PIECES.size())));
        case 1 -> text.replace(at, end, PIECES.get(random.nextInt(PIECES.size())));
        case 2 -> text.delete(at, end);
        case 3 -> swapLines(text, random);
        default -> text.setLength(at);
      }
    }
    byte[] contents = text.toString().getBytes(UTF_8);
    if (contents.length > 0 && random.nextInt(10) == 0) {
      contents[random.nextInt(contents.length)] = (byte) random.nextInt(256);
    }
    return contents;
  }

  private static void swapLines(StringBuilder text, Random random) {
    List<String> lines = new ArrayList<>(List.of(text.toString().split("\n", -1)));
    String moved = lines.remove(random.nextInt(lines.size()));
    lines.add(random.nextInt(lines.size() + 1), moved);
    text.setLength(0);
    text.append(String.join("\n", lines)).append('\n');
  }
}
