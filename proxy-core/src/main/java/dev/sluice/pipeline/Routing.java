package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.Route;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/**
 * No such path: 404. Path known, method not: 405 with {@code Allow}, RFC 9110 section 15.5.6. An
 * expectation that nobody knows: 400.
 */
final class Routing extends Rule {
  private static final Failure UNKNOWN =
      Failure.of(
          Reason.PATH_UNKNOWN,
          "There is nothing at this path. Paths are matched as they are sent, as in"
              + " /v1/chat/completions.");

  private static final Failure EXPECTATION =
      Failure.of(
          Reason.EXPECTATION_UNKNOWN,
          "The request expects something other than 100-continue. Send no other Expect header.");

  @Override
  @Nullable Failure check(Exchange exchange) {
    if (exchange.route() instanceof Route.Unknown) {
      return UNKNOWN;
    }
    if (exchange.route() instanceof Route.WrongMethod wrong) {
      return Failure.methodNotAllowed(
          "This path does not take this method. Send " + wrong.allow() + ".", wrong.allow());
    }
    return expectsTheUnknown(exchange.head()) ? EXPECTATION : null;
  }

  /** RFC 9110 section 10.1.1: whoever expects something is to be told that it will not be met. */
  private static boolean expectsTheUnknown(HttpRequest head) {
    if (head.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      return false;
    }
    for (String expected : head.headers().getAll(HttpHeaderNames.EXPECT)) {
      if (!HttpHeaderValues.CONTINUE.contentEqualsIgnoreCase(expected)) {
        return true;
      }
    }
    return false;
  }
}
