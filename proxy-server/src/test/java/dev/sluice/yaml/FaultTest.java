package dev.sluice.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How a fault reads. */
final class FaultTest {

  @Test
  void saysFileLineNameFoundAndExpected() {
    Fault fault =
        new Fault("sluice.yaml", 12, 18, "plans.free.streams", "0", "a whole number >= 1");
    assertThat(fault)
        .hasToString("sluice.yaml:12: plans.free.streams: 0 (expected: a whole number >= 1)");
  }

  @Test
  void leavesOutTheLineAndTheNameOfAWholeFile() {
    assertThat(new Fault("sluice.yaml", 0, 0, "", "empty", "a YAML document"))
        .hasToString("sluice.yaml: empty (expected: a YAML document)");
  }

  @Test
  void staysOnOneLineWhateverItQuotes() {
    Fault fault = new Fault("f", 1, 1, "a\nb", "x\r\n\u001b[31m\u2028\ud800\u202e", "text");
    assertThat(fault)
        .hasToString(
            "f:1: a\\u000ab: x\\u000d\\u000a\\u001b[31m\\u2028\\ud800\\u202e (expected: text)");
  }

  @Test
  void boundsWhatItQuotes() {
    Fault fault = new Fault("f", 1, 1, "n".repeat(100_000), "v".repeat(100_000), "text");
    assertThat(fault.toString()).hasSizeLessThan(300).contains("vvv…", "nnn…");
  }
}
