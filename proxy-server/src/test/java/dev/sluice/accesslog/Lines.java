package dev.sluice.accesslog;

import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Usage;
import dev.sluice.telemetry.AccessLogLine;
import java.util.List;

/** Exchanges that are told apart by a number, and the lines that are expected of them. */
final class Lines {
  private Lines() {}

  static ExchangeSummary exchange(int number) {
    return new ExchangeSummary(
        0,
        "req_" + number,
        new TraceContext(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0, 0, null),
        "models",
        null,
        "free",
        "acme-prod",
        200,
        null,
        false,
        0,
        300,
        0,
        Usage.NONE,
        1_000,
        2_000,
        null,
        1,
        List.of(),
        null,
        false,
        End.DONE);
  }

  static String of(int from, int to) {
    StringBuilder lines = new StringBuilder();
    for (int number = from; number < to; number++) {
      AccessLogLine.append(lines, exchange(number));
    }
    return lines.toString();
  }
}
