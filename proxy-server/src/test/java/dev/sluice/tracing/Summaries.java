package dev.sluice.tracing;

import dev.sluice.cluster.Endpoint;
import dev.sluice.error.Reason;
import dev.sluice.exchange.AttemptSummary;
import dev.sluice.exchange.End;
import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.http.TraceContext;
import dev.sluice.message.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Summaries of exchanges for tests. */
final class Summaries {
  static final long STARTED_MILLIS = 1_700_000_000_000L;
  static final Endpoint ENDPOINT = new Endpoint("10.0.0.7", 8000, false, "", "secret-credential");
  static final TraceContext CALLERS =
      new TraceContext(
          0x0af7651916cd43ddL,
          0x8448eb211c80319cL,
          0xb7ad6b7169203331L,
          TraceContext.SAMPLED,
          null);

  private Summaries() {}

  static AttemptSummary attempt(long spanId, int status, @Nullable Reason reason) {
    return new AttemptSummary(ENDPOINT, spanId, 100 * spanId, 50, status, reason);
  }

  /** An exchange of a sampled trace that began here. */
  static ExchangeSummary sampled(AttemptSummary... attempts) {
    return of(
        TraceContext.begin(1), "chat_completions", "small", 200, null, End.DONE, List.of(attempts));
  }

  static ExchangeSummary of(
      TraceContext trace,
      String operation,
      @Nullable String model,
      int status,
      @Nullable Reason reason,
      End end,
      List<AttemptSummary> attempts) {
    return new ExchangeSummary(
        STARTED_MILLIS,
        "req_1",
        trace,
        operation,
        model,
        model == null ? null : "pro",
        model == null ? null : "acme-prod",
        status,
        reason,
        true,
        100,
        2_000,
        7,
        new Usage(30, 400),
        status == 0 ? -1 : 2_000,
        9_000,
        ENDPOINT,
        attempts.size(),
        attempts,
        null,
        false,
        end);
  }
}
