package dev.sluice.access;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** From the {@code Authorization} header to the key's hash. */
@State(Scope.Thread)
public class BearerTokenBenchmark {
  private final HttpHeaders headers =
      new DefaultHttpHeaders().set("authorization", "Bearer sk-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF");

  @Benchmark
  public BearerToken.Parsed parse() {
    return BearerToken.parse(headers);
  }
}
