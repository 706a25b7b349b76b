package dev.sluice.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KnownWordTest {
  @Test
  void eachIsFoundWhereverItStands() {
    for (String word : KnownWord.all()) {
      byte[] text = ("\"" + word + "\"").getBytes(UTF_8);
      assertThat(KnownWord.at(text, 1, text.length - 1)).isSameAs(word);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "m",
        "modem",
        "mOdel",
        "model\\",
        "mod\\u0065l",
        "r\u00f6le",
        "a name that is longer than any"
      })
  void nothingElseIs(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    assertThat(KnownWord.at(bytes, 0, bytes.length)).isNull();
  }
}
