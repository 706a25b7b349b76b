package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuthorityTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "h",
        "example.com",
        "example.com.",
        "example.com:0",
        "example.com:65535",
        "example.com:",
        "xn--bcher-kva.example",
        "a_b",
        "10.0.0.7:8000",
        "[::1]",
        "[::1]:8080",
        "[::]",
        "[2001:DB8::7]:443",
        "[::ffff:10.0.0.7]",
      })
  void aHostIsAHost(String text) {
    assertThat(Authority.isValid(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        ":",
        ":80",
        "h:80:80",
        "h:x",
        "h:+1",
        "h:-1",
        "h: 80",
        "h:123456",
        "h ",
        "a b",
        "a,b c",
        "user@h",
        "user:pw@h",
        "h/",
        "h/path",
        "h?q",
        "h#f",
        "http://h",
        "h\\x",
        "h\u0000",
        "h\t",
        "h\u007F",
        "h\u00FC",
        "h\u0661",
        "a%",
        "a%20b",
        "a%2",
        "a%zz",
        "[",
        "[]",
        "[:]",
        "[::1",
        "::1",
        "[::1]x",
        "[::1]:x",
        "[::1]80",
        "[::g]",
        "[1]",
        "[12]",
        "[....]",
        "[1.2.3.4]",
        "[1:2:3]",
        "[::1::]",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[[::1]]",
        "[v1.x]",
      })
  void whatIsNotAHostIsNone(String text) {
    assertThat(Authority.isValid(text)).isFalse();
  }
}
