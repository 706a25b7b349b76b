package dev.sluice.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class DemoBannerTest {
  private static final String TEXT = DemoBanner.text(8081, 9902, "sk-free", "sk-pro");

  @Test
  void everyPlaceIsFilledIn() {
    assertThat(TEXT.replaceAll("%\\{http_code}", "")).doesNotContainPattern("\\{[a-z]+}");
    assertThat(TEXT).contains("http://127.0.0.1:8081/v1/models", "http://127.0.0.1:9902/metrics");
  }

  @Test
  void itShowsListingAnsweringStreamingAndTheSlotLimit() {
    assertThat(TEXT)
        .contains("/v1/models -H 'Authorization: Bearer sk-pro'")
        .contains("-sN http://127.0.0.1:8081/v1/chat/completions")
        .contains("-sN http://127.0.0.1:8081/v1/messages")
        .contains("for i in 1 2 3", "Bearer sk-free");
  }

  @Test
  void everyBodyIsARequestThatTheDemoUpstreamAnswers() throws Exception {
    List<String> bodies = matches("-d '([^']*)'");

    assertThat(bodies).hasSize(5);
    for (String body : bodies) {
      DemoRequest request = DemoRequest.read(body.getBytes(StandardCharsets.UTF_8));
      assertThat(List.of("small", "big")).contains(request.model());
    }
  }

  @Test
  void everyQuoteIsClosedInTheLinesOfOneCommand() {
    for (String command : TEXT.replace("\\\n", "").lines().toList()) {
      assertThat(command.chars().filter(c -> c == '\'').count() % 2).as(command).isZero();
    }
  }

  private static List<String> matches(String regex) {
    return Pattern.compile(regex)
        .matcher(TEXT)
        .results()
        .map((MatchResult result) -> result.group(1))
        .toList();
  }
}
