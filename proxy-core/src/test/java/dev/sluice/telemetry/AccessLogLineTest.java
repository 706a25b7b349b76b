package dev.sluice.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.sluice.cluster.Endpoint;
import dev.sluice.error.Reason;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Usage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AccessLogLineTest {
  private static final long STARTED_MILLIS =
      Instant.parse("2026-01-31T03:04:05.006Z").toEpochMilli();

  @Test
  void anAnsweredStreamIsOneLine() {
    Endpoint endpoint = new Endpoint("10.0.0.7", 8000, true, "/base", "secret-credential");

    assertThat(
            line(
                new ExchangeSummary(
                    STARTED_MILLIS,
                    "req_1",
                    new TraceContext(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0, 0, null),
                    "chat_completions",
                    "openai/gpt-oss-120b",
                    "pro",
                    "acme-prod",
                    200,
                    null,
                    true,
                    2_048,
                    70_000,
                    312,
                    new Usage(1_200, 0),
                    40_001_999,
                    1_500_000_000,
                    endpoint,
                    2,
                    List.of(),
                    null,
                    false,
                    End.DONE)))
        .isEqualTo(
            "{\"time\":\"2026-01-31T03:04:05.006Z\",\"request_id\":\"req_1\","
                + "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\","
                + "\"operation\":\"chat_completions\",\"model\":\"openai/gpt-oss-120b\","
                + "\"plan\":\"pro\",\"key\":\"acme-prod\",\"status\":200,\"reason\":null,"
                + "\"bytes_in\":2048,\"bytes_out\":70000,\"events\":312,"
                + "\"input_tokens\":1200,\"output_tokens\":0,"
                + "\"first_byte_ms\":40.001,\"duration_ms\":1500.000,"
                + "\"upstream\":\"https://10.0.0.7:8000/base\",\"attempts\":2,\"stream\":true,\"end\":\"done\"}\n")
        .doesNotContain("secret");
  }

  @Test
  void whatIsNotKnownIsNull() {
    assertThat(line(unanswered("unknown", null)))
        .isEqualTo(
            "{\"time\":\"2026-01-31T03:04:05.006Z\",\"request_id\":\"req_1\","
                + "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\","
                + "\"operation\":\"unknown\",\"model\":null,\"plan\":null,\"key\":null,"
                + "\"status\":0,\"reason\":\"http_malformed\",\"bytes_in\":0,\"bytes_out\":0,"
                + "\"events\":0,\"input_tokens\":null,\"output_tokens\":null,\"first_byte_ms\":null,\"duration_ms\":0.007,\"upstream\":null,"
                + "\"attempts\":0,\"stream\":false,\"end\":\"client\"}\n");
  }

  @Test
  void aNameOfAnyCharactersStaysOneValidJsonObjectOnOneLine() throws IOException {
    Random random = new Random(1);
    for (int i = 0; i < 2_000; i++) {
      StringBuilder name = new StringBuilder();
      for (int j = random.nextInt(20); j >= 0; j--) {
        int point = random.nextInt(random.nextBoolean() ? 0x80 : 0x1_0000);
        name.append(Character.isSurrogate((char) point) ? "\ud83d\ude80" : (char) point);
      }
      name.append("\"\\\n\r\t\0\u2028");

      byte[] line = line(unanswered(name.toString(), null)).getBytes(StandardCharsets.UTF_8);

      assertThat(line).endsWith('\n');
      assertThat(new String(line, 0, line.length - 1, StandardCharsets.UTF_8))
          .doesNotContain("\n", "\r");
      assertThat(members(line)).containsEntry("operation", name.toString());
    }
  }

  @Test
  void halfASurrogatePairIsStillValidUtf8AndJson() throws IOException {
    byte[] line = line(unanswered("x\ud83d", null)).getBytes(StandardCharsets.UTF_8);

    assertThat(members(line)).containsEntry("operation", "x?");
  }

  @Test
  void everyMomentIsWrittenAsRfc3339InUtc() {
    for (String moment :
        new String[] {
          "1970-01-01T00:00:00.000Z",
          "1969-12-31T23:59:59.999Z",
          "2024-02-29T23:59:59.099Z",
          "2038-01-19T03:14:08.010Z",
          "9999-12-31T23:59:59.999Z"
        }) {
      ExchangeSummary summary =
          new ExchangeSummary(
              Instant.parse(moment).toEpochMilli(),
              "req_1",
              new TraceContext(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0, 0, null),
              "models",
              null,
              null,
              null,
              200,
              null,
              false,
              0,
              0,
              0,
              Usage.NONE,
              0,
              0,
              null,
              1,
              List.of(),
              null,
              false,
              End.DONE);

      assertThat(line(summary)).startsWith("{\"time\":\"" + moment + "\",");
    }
  }

  @Test
  void aLineIsAppendedToWhatIsThere() {
    StringBuilder log = new StringBuilder("before\n");
    AccessLogLine.append(log, unanswered("models", "small"));
    AccessLogLine.append(log, unanswered("models", "small"));

    assertThat(log.toString().lines()).hasSize(3).first().isEqualTo("before");
  }

  private static String line(ExchangeSummary summary) {
    StringBuilder log = new StringBuilder();
    AccessLogLine.append(log, summary);
    return log.toString();
  }

  private static ExchangeSummary unanswered(String operation, @Nullable String model) {
    return new ExchangeSummary(
        STARTED_MILLIS,
        "req_1",
        new TraceContext(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0, 0, null),
        operation,
        model,
        null,
        null,
        0,
        Reason.HTTP_MALFORMED,
        false,
        0,
        0,
        0,
        Usage.NONE,
        -1,
        7_999,
        null,
        0,
        List.of(),
        null,
        false,
        End.CLIENT);
  }

  private static Map<String, String> members(byte[] line) throws IOException {
    Map<String, String> members = new LinkedHashMap<>();
    try (JsonParser json = new JsonFactory().createParser(line)) {
      assertThat(json.nextToken()).isEqualTo(JsonToken.START_OBJECT);
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        members.put(name, json.getText());
      }
      assertThat(json.nextToken()).isNull();
    }
    return members;
  }
}
