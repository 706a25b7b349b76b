package dev.sluice.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyHashTest {
  /** Of "abc", as FIPS 180-2 gives it. */
  private static final String ABC =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

  @Test
  void theHashIsSha256() {
    assertThat(KeyHash.of("abc".getBytes(StandardCharsets.US_ASCII)).toHex()).isEqualTo(ABC);
  }

  @Test
  void aHashIsReadFromItsDigitsInEitherCase() {
    KeyHash hash = KeyHash.of("abc".getBytes(StandardCharsets.US_ASCII));
    assertThat(KeyHash.ofHex(ABC)).isEqualTo(hash);
    assertThat(KeyHash.ofHex(ABC.toUpperCase(Locale.ROOT))).isEqualTo(hash);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ba78", "0x"})
  void digitsOfAnotherNumberAreRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> KeyHash.ofHex(text));
  }

  @Test
  void whatAreNotDigitsIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> KeyHash.ofHex("g" + ABC.substring(1)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KeyHash.ofHex("\u0661" + ABC.substring(1)));
  }
}
