package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.HttpHeaderNames;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderNameTest {
  private static CharSequence name(String text) {
    byte[] line = (text + ": value").getBytes(StandardCharsets.ISO_8859_1);
    return HeaderName.of(line, text.length());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "host",
        "Host",
        "HOST",
        "content-length",
        "Content-Type",
        "X-Request-Id",
        "traceparent",
        "Connection",
        "x",
        "X-Y!#$%&'*+.^_`|~09",
        "hosu",
        "hest",
        "content-lengti",
        "Vib",
        "[]"
      })
  void aNameIsItselfInLowerCase(String text) {
    assertThat(name(text)).hasToString(text.toLowerCase(Locale.ROOT));
  }

  @Test
  void aCommonNameIsMadeOnce() {
    assertThat(name("Content-Length")).isSameAs(HttpHeaderNames.CONTENT_LENGTH);
    assertThat(name("content-type")).isSameAs(HttpHeaderNames.CONTENT_TYPE);
    assertThat(name("AUTHORIZATION")).isSameAs(HttpHeaderNames.AUTHORIZATION);
    assertThat(name("Host")).isSameAs(HttpHeaderNames.HOST);
    assertThat(name("Transfer-Encoding")).isSameAs(HttpHeaderNames.TRANSFER_ENCODING);
    assertThat(name("Anthropic-Version")).isSameAs(name("anthropic-version"));
  }

  @Test
  void aNameOutlivesTheLineItWasReadFrom() {
    byte[] line = "X-Mine: 1".getBytes(StandardCharsets.US_ASCII);
    CharSequence name = HeaderName.of(line, 6);
    line[2] = 'z';
    assertThat(name).hasToString("x-mine");
  }
}
