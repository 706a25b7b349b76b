package dev.sluice.error;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The body of an error answer, and the event that ends a broken stream. */
@State(Scope.Thread)
public class ErrorAnswerBenchmark {
  private static final String REQUEST_ID = "req_0123456789abcdefghijkl";

  private final Failure plain = Failure.of(Reason.KEY_MISSING, "No bearer key was sent.");

  /** A message that quotes what the caller sent. */
  private final Failure quoting =
      Failure.of(
          Reason.REQUEST_SHAPE,
          "messages[2].content[1].type: \"im\\age\n\" (expected: \"text\" or \"image_url\")");

  @Benchmark
  public byte[] body() {
    return ErrorBody.json(plain, REQUEST_ID);
  }

  @Benchmark
  public byte[] bodyThatQuotes() {
    return ErrorBody.json(quoting, REQUEST_ID);
  }

  @Benchmark
  public byte[] lastEvent() {
    return ErrorBody.event(plain, REQUEST_ID, true);
  }
}
