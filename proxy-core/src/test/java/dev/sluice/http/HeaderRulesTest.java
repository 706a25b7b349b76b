package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderRulesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        "application/json ; charset=\"utf-8\"",
        "application/json\t;x",
        " application/json",
        "application/json;",
      })
  void parametersCaseAndBlanksOfAMediaTypeDoNotCount(String text) {
    assertThat(MediaType.isJson(text)).isTrue();
    assertThat(
            MediaType.isEventStream(text.replaceAll("(?i)application/json", "text/event-stream")))
        .isTrue();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {
        "",
        " ",
        "json",
        "text/json",
        "application/jso",
        "application/jsonp",
        "application/json-seq",
        "application/json+x",
        "application/problem+json",
        "application/json, text/html",
        "application/json text/html",
        "application /json",
        "application/ json",
        ";application/json",
        "\"application/json\"",
        "*/*",
      })
  void anotherMediaTypeIsAnother(@Nullable String text) {
    assertThat(MediaType.isJson(text)).isFalse();
    assertThat(MediaType.isEventStream(text)).isFalse();
  }

  @Test
  void http11KeepsAliveUnlessToldOtherwise() {
    assertThat(tokens().keepsAlive(false)).isTrue();
    assertThat(tokens("keep-alive").keepsAlive(false)).isTrue();
    assertThat(tokens("close").keepsAlive(false)).isFalse();
    assertThat(tokens("CLOSE").keepsAlive(false)).isFalse();
    assertThat(tokens("x, \tClose ,y").keepsAlive(false)).isFalse();
    assertThat(tokens("keep-alive", "close").keepsAlive(false)).isFalse();
    assertThat(tokens("closed", "x-close").keepsAlive(false)).isTrue();
  }

  @Test
  void http10ClosesUnlessToldOtherwise() {
    assertThat(tokens().keepsAlive(true)).isFalse();
    assertThat(tokens("x").keepsAlive(true)).isFalse();
    assertThat(tokens("Keep-Alive").keepsAlive(true)).isTrue();
    assertThat(tokens("keep-alive, close").keepsAlive(true)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authentication-info",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
      })
  void hopByHopHeadersEndHereUnnamed(String name) {
    assertThat(tokens().endsHere(name)).isTrue();
  }

  @Test
  void otherHeadersEndHereWhereConnectionNamesThem() {
    ConnectionTokens tokens = tokens(",, X-Mine ,", "close,x-yours");
    assertThat(tokens.endsHere("x-mine")).isTrue();
    assertThat(tokens.endsHere("x-yours")).isTrue();
    assertThat(tokens.endsHere("x-theirs")).isFalse();
    assertThat(tokens.endsHere("content-type")).isFalse();
    assertThat(tokens.keepsAlive(false)).isFalse();
  }

  private static ConnectionTokens tokens(String... values) {
    HttpHeaders headers = new DefaultHttpHeaders();
    for (String value : values) {
      headers.add("Connection", value);
    }
    return ConnectionTokens.of(headers);
  }
}
