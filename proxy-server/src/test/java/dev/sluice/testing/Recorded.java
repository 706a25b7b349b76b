package dev.sluice.testing;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One request as an upstream received it. Safe for all threads. */
public final class Recorded {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final int connection;
  private final String line;
  private final List<Header> headers;
  private final CompletableFuture<String> body = new CompletableFuture<>();
  private final CompletableFuture<Boolean> gone = new CompletableFuture<>();

  Recorded(int connection, String line, List<Header> headers) {
    this.connection = connection;
    this.line = line;
    this.headers = headers;
  }

  /** The number of the connection that it came on; each connection has its own. */
  public int connection() {
    return connection;
  }

  /** The request line. */
  public String line() {
    return line;
  }

  /** All header lines in order. */
  public List<Header> headers() {
    return headers;
  }

  /** The values of all header lines of that name. */
  public List<String> headers(String name) {
    return Header.values(headers, name);
  }

  /** The value of the only header line of that name; fails where there is none or more. */
  public String header(String name) {
    List<String> values = headers(name);
    if (values.size() != 1) {
      throw new AssertionError(name + ": " + values + " (expected: one) in " + headers);
    }
    return values.get(0);
  }

  /** The body as a wire string, without framing; waits until it was read. */
  public String body() {
    return await("the body", body);
  }

  /** Waits until the proxy has closed the connection. */
  public void awaitGone() {
    await("the end of the connection", gone);
  }

  /** Whether the proxy has closed the connection. */
  public boolean isGone() {
    return gone.isDone();
  }

  void hasBody(String wire) {
    body.complete(wire);
  }

  void markGone() {
    gone.complete(true);
  }

  private static <T> T await(String what, CompletableFuture<T> future) {
    try {
      return future.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("upstream did not see " + what + " in " + PATIENCE, e);
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }
}
