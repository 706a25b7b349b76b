package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HttpDateTest {
  @Test
  void theDateOfTheRfcIsWrittenAsThere() {
    long millis =
        ZonedDateTime.of(1994, 11, 6, 8, 49, 37, 0, ZoneOffset.UTC).toEpochSecond() * 1000;
    assertThat(HttpDate.at(millis)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
    assertThat(HttpDate.at(millis + 999)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
    assertThat(HttpDate.at(millis + 1000)).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
    assertThat(HttpDate.at(millis - 1)).isEqualTo("Sun, 06 Nov 1994 08:49:36 GMT");
  }

  @Test
  void anyTimeInAnyOrderIsItsOwnDate() {
    DateTimeFormatter expected =
        DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);
    Random random = new Random(7);
    for (int i = 0; i < 1000; i++) {
      long second = random.nextLong(0, 4_000_000_000L);
      assertThat(HttpDate.at(second * 1000 + random.nextInt(1000)))
          .isEqualTo(expected.format(Instant.ofEpochSecond(second).atZone(ZoneOffset.UTC)));
    }
  }
}
