package dev.sluice.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Endpoint;
import dev.sluice.http.TraceContext;
import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestEncoderTest {
  @Test
  void aPlainRequestHasSluicesOwnHeadersAlone() {
    assertThat(encode(endpoint("10.0.0.7", 8000, "", null), false))
        .isEqualTo(
            "POST /v1/messages?x=%20 HTTP/1.1\r\n"
                + "host: 10.0.0.7:8000\r\n"
                + "content-length: 17\r\n"
                + "x-request-id: req_1\r\n"
                + "traceparent: 00-00000000000000010000000000000002-0000000000000003-01\r\n"
                + "via: 1.1 sluice\r\n"
                + "\r\n");
  }

  @Test
  void theEndpointsPathNameAndCredentialAreSent() {
    assertThat(encode(endpoint("::1", 8000, "/base/v2", "up-secret"), false, "via", "1.0 a"))
        .startsWith("POST /base/v2/v1/messages?x=%20 HTTP/1.1\r\nhost: [::1]:8000\r\n")
        .contains("\r\nauthorization: Bearer up-secret\r\n")
        .contains("\r\nvia: 1.0 a, 1.1 sluice\r\n");
    assertThat(encode(endpoint("m.example", 80, "", null), true))
        .contains("\r\nhost: m.example\r\n")
        .contains("\r\nvia: 1.0 sluice\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Authorization",
        "AUTHORIZATION",
        "Accept-Encoding",
        "Expect",
        "Connection",
        "Keep-Alive",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
      })
  void whatBelongsToTheCallerOrItsConnectionDoesNotGoOn(String name) {
    assertThat(encode(endpoint("h", 80, "", null), false, name, "callers-own"))
        .doesNotContain("callers-own");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Host", "Content-Length", "X-Request-Id", "x-request-id", "Traceparent"})
  void whatSluiceWritesItselfStandsOnce(String name) {
    assertThat(encode(endpoint("h", 80, "", null), false, name, "callers-own"))
        .doesNotContain("callers-own")
        .containsOnlyOnce("\r\n" + name.toLowerCase(Locale.ROOT) + ": ");
  }

  @Test
  void whatConnectionNamesDoesNotGoOnAndEverythingElseDoes() {
    assertThat(
            encode(
                endpoint("h", 80, "", null),
                false,
                "Connection",
                "close, X-Mine",
                "x-mine",
                "1",
                "Anthropic-Version",
                "2023-06-01",
                "X-Twice",
                "a",
                "X-Twice",
                "b",
                "X-Bytes",
                "\u00FC\u0080"))
        .doesNotContain("x-mine")
        .endsWith(
            "via: 1.1 sluice\r\nanthropic-version: 2023-06-01\r\nx-twice: a\r\nx-twice: b\r\n"
                + "x-bytes: \u00FC\u0080\r\n\r\n");
  }

  @Test
  void theCallersTraceStateGoesOnAsTheTraceHasIt() {
    assertThat(encode(endpoint("h", 80, "", null), false, "Tracestate", "a=1"))
        .doesNotContainIgnoringCase("tracestate");
  }

  private static Endpoint endpoint(
      String host, int port, String basePath, @Nullable String credential) {
    return new Endpoint(host, port, false, basePath, credential);
  }

  private static String encode(Endpoint endpoint, boolean http10, String... pairs) {
    HttpHeaders headers =
        DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
    for (int i = 0; i < pairs.length; i += 2) {
      headers.add(AsciiString.of(pairs[i]).toLowerCase(), pairs[i + 1]); // as names are read
    }
    return Bytes.text(
        RequestEncoder.encode(
            ByteBufAllocator.DEFAULT,
            endpoint,
            "POST",
            "/v1/messages?x=%20",
            headers,
            http10,
            "req_1",
            new TraceContext(1, 2, 4, TraceContext.SAMPLED, null),
            3,
            17));
  }
}
