package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.Route;
import dev.sluice.http.MediaType;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An operation with a JSON body takes {@code Content-Type: application/json} alone: 415. */
final class ContentType extends Rule {
  private static final Failure NOT_JSON =
      Failure.of(
          Reason.CONTENT_TYPE,
          "The request's Content-Type is not application/json. Send Content-Type:"
              + " application/json.");

  @Override
  @Nullable Failure check(Exchange exchange) {
    if (!(exchange.route() instanceof Route.Forwarded)) {
      return null;
    }
    List<String> types = exchange.head().headers().getAll(HttpHeaderNames.CONTENT_TYPE);
    return types.size() == 1 && MediaType.isJson(types.get(0)) ? null : NOT_JSON;
  }
}
