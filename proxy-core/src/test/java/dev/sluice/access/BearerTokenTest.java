package dev.sluice.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.BearerToken.Kind;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BearerTokenTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"Bearer sk-1", "bearer sk-1", "BEARER sk-1", "bEaReR sk-1", "Bearer    sk-1"})
  void theSchemesCaseAndSpacesBehindItDoNotMatter(String value) {
    assertThat(parse(value)).isEqualTo(present("sk-1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "AZaz09-._~+/", "abc=", "abc==", "-"})
  void everyFormOfTokenIsAKey(String key) {
    assertThat(parse("Bearer " + key)).isEqualTo(present(key));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "Bearer",
        "Bearer ",
        "Bearersk-1",
        "Bearer\tsk-1",
        "Bearer: sk-1",
        "Bearer sk-1 ",
        "Bearer sk 1",
        "Bearer sk-1, Bearer sk-2",
        "Bearer sk-1\u0000",
        "Bearer \u00FC",
        "Bearer \"sk-1\"",
        "Bearer sk:1",
        "Bearer =",
        "Bearer ==",
        "Bearer a=b",
        "Bearer a=b=",
        "Basic dXNlcjpwdw==",
        "sk-1",
        "Token sk-1",
        "XBearer sk-1",
      })
  void whatIsNotOneKeyIsMalformed(String value) {
    assertThat(parse(value).kind()).isEqualTo(Kind.MALFORMED);
  }

  @Test
  void aKeyIsBounded() {
    String most = "k".repeat(BearerToken.MAX_LENGTH);
    assertThat(parse("Bearer " + most)).isEqualTo(present(most));
    assertThat(parse("Bearer " + most + "k").kind()).isEqualTo(Kind.MALFORMED);
  }

  @Test
  void noHeaderIsMissingAndTwoAreMalformed() {
    assertThat(parse().kind()).isEqualTo(Kind.MISSING);
    assertThat(parse("Bearer sk-1", "Bearer sk-1").kind()).isEqualTo(Kind.MALFORMED);
    assertThat(BearerToken.parse(new DefaultHttpHeaders().add("x-api-key", "sk-1")).kind())
        .isEqualTo(Kind.MISSING);
  }

  @Test
  void nothingThatIsReadShowsTheKeyOrItsHash() {
    BearerToken.Parsed parsed = parse("Bearer sk-secret");
    assertThat(parsed.toString())
        .doesNotContain("secret")
        .doesNotContain(parsed.hash().toHex().substring(0, 8));
  }

  private static BearerToken.Parsed present(String key) {
    return new BearerToken.Parsed(
        Kind.PRESENT, KeyHash.of(key.getBytes(StandardCharsets.ISO_8859_1)));
  }

  private static BearerToken.Parsed parse(String... values) {
    HttpHeaders headers =
        DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
    for (String value : values) {
      headers.add("authorization", value);
    }
    return BearerToken.parse(headers);
  }
}
