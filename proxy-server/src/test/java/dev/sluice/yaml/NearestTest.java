package dev.sluice.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which name was probably meant. */
final class NearestTest {
  private static final List<String> KNOWN =
      List.of("streams", "streams-per-key", "models", "max-body-bytes", "listen");

  @ParameterizedTest
  @CsvSource({
    "stream, streams",
    "strems, streams",
    "straems, streams",
    "Streams, streams",
    "streams_per_key, streams-per-key",
    "StreamsPerKey, streams-per-key",
    "maxBodyBytes, max-body-bytes",
    "max-bodybytes, max-body-bytes",
    "model, models",
    "lisetn, listen"
  })
  void isFoundForASlip(String found, String meant) {
    assertThat(Nearest.to(found, KNOWN)).contains(meant);
  }

  @Test
  void isNoneForAnotherWord() {
    assertThat(Nearest.to("banana", KNOWN)).isEmpty();
  }

  @Test
  void isNoneWhereNothingIsKnown() {
    assertThat(Nearest.to("streams", List.of())).isEmpty();
  }

  @Test
  void isNotLookedForInALongText() {
    assertThat(Nearest.to("x".repeat(100_000), List.of("x".repeat(99_999)))).isEmpty();
  }
}
