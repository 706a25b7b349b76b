package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.http.BodyFraming.Kind;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BodyFramingTest {
  @Test
  void aRequestWithoutALengthHasNoBody() {
    assertThat(request()).isEqualTo(new BodyFraming(Kind.LENGTH, 0, null));
  }

  @Test
  void anAnswerWithoutALengthEndsWithItsConnection() {
    assertThat(answer(200)).isEqualTo(new BodyFraming(Kind.UNTIL_CLOSE, 0, null));
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 102, 204, 304})
  void someAnswersHaveNoBodyWhateverTheyDeclare(int status) {
    assertThat(answer(status)).isEqualTo(new BodyFraming(Kind.LENGTH, 0, null));
    assertThat(answer(status, "Content-Length", "5"))
        .isEqualTo(new BodyFraming(Kind.LENGTH, 0, null));
    assertThat(answer(status, "Transfer-Encoding", "chunked"))
        .isEqualTo(new BodyFraming(Kind.LENGTH, 0, null));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1",
    "007, 7",
    "9223372036854775807, 9223372036854775807",
    "9223372036854775808, 9223372036854775807",
    "18446744073709551616, 9223372036854775807",
    "18446744073709551617, 9223372036854775807",
    "99999999999999999999999999999999999999, 9223372036854775807",
  })
  void aLengthThatIsTooLargeToCountIsTheLargest(String text, long length) {
    assertThat(request("Content-Length", text))
        .isEqualTo(new BodyFraming(Kind.LENGTH, length, null));
    assertThat(answer(200, "Content-Length", text))
        .isEqualTo(new BodyFraming(Kind.LENGTH, length, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "-1", "+1", "1 ", " 1", "1 1", "1,1", "1, 2", "0x1", "1e3", "1.0", "one", "١"})
  void aLengthThatIsNotDigitsIsRefused(String text) {
    assertThat(request("Content-Length", text).refusal()).contains("Content-Length");
    assertThat(answer(200, "Content-Length", text).refusal()).contains("Content-Length");
    assertThat(answer(204, "Content-Length", text).refusal()).contains("Content-Length");
  }

  @Test
  void moreThanOneLengthIsRefusedEvenWhereTheyAgree() {
    assertThat(request("Content-Length", "1", "content-length", "1").refusal())
        .contains("more than one");
  }

  @ParameterizedTest
  @ValueSource(strings = {"chunked", "Chunked", "CHUNKED"})
  void chunkedIsChunkedInAnyCase(String text) {
    assertThat(request("Transfer-Encoding", text))
        .isEqualTo(new BodyFraming(Kind.CHUNKED, 0, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "gzip",
        "identity",
        "gzip, chunked",
        "chunked, gzip",
        "chunked,chunked",
        "chunked,",
        ",chunked",
        "chunked;q=1",
        "\"chunked\"",
        "x-chunked",
        "chunked\u000B",
        "chun ked",
      })
  void aTransferEncodingThatIsNotExactlyChunkedIsRefused(String text) {
    assertThat(request("Transfer-Encoding", text).refusal()).contains("exactly chunked");
    assertThat(answer(200, "Transfer-Encoding", text).refusal()).contains("exactly chunked");
  }

  @Test
  void twoTransferEncodingsAreRefused() {
    assertThat(request("Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked").refusal())
        .contains("exactly chunked");
  }

  @Test
  void aTransferEncodingOnHttp10IsRefused() {
    assertThat(BodyFraming.ofRequest(headers("Transfer-Encoding", "chunked"), true).refusal())
        .contains("HTTP/1.0");
    ResponseHead head = new ResponseHead(200, true, headers("Transfer-Encoding", "chunked"));
    assertThat(BodyFraming.ofAnswer(head).refusal()).contains("HTTP/1.0");
  }

  @Test
  void bothAreRefusedInEitherOrder() {
    assertThat(request("Content-Length", "1", "Transfer-Encoding", "chunked").refusal())
        .contains("both");
    assertThat(request("Transfer-Encoding", "chunked", "Content-Length", "1").refusal())
        .contains("both");
    assertThat(answer(204, "Transfer-Encoding", "chunked", "Content-Length", "0").refusal())
        .contains("both");
  }

  private static BodyFraming request(String... headers) {
    return BodyFraming.ofRequest(headers(headers), false);
  }

  private static BodyFraming answer(int status, String... headers) {
    return BodyFraming.ofAnswer(new ResponseHead(status, false, headers(headers)));
  }

  private static HttpHeaders headers(String... pairs) {
    HttpHeaders headers =
        DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
    for (int i = 0; i < pairs.length; i += 2) {
      headers.add(pairs[i], pairs[i + 1]);
    }
    return headers;
  }
}
