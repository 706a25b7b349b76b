package dev.sluice.demo;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;

/** Gathers a request's body, and says so in the dialect of its path when it is too large. */
final class DemoBody extends HttpObjectAggregator {
  private static final int MAX_BYTES = 64 << 20;

  DemoBody() {
    super(MAX_BYTES);
  }

  @Override
  protected void handleOversizedMessage(ChannelHandlerContext ctx, HttpMessage oversized) {
    String path = oversized instanceof HttpRequest request ? DemoHandler.path(request) : "";
    ctx.writeAndFlush(
            DemoHandler.json(
                HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
                DemoFormat.ofPath(path)
                    .error("request_too_large", "body: too large (expected: <= 64 MiB)")))
        .addListener(ChannelFutureListener.CLOSE);
  }
}
