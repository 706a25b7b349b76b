package dev.sluice.page;

import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers one request and closes the connection; or sends events over it until it is closed. */
final class PageHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final Logger LOG = LoggerFactory.getLogger(PageHandler.class);

  private static final String EVENTS = "/events";

  /** Nothing but what the jar holds, from nowhere else, in nobody's frame, kept by no cache. */
  private static final Map<String, String> ALWAYS =
      Map.of(
          "content-security-policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
              + " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          "x-content-type-options",
          "nosniff",
          "referrer-policy",
          "no-referrer",
          "cross-origin-resource-policy",
          "same-origin",
          "cache-control",
          "no-store");

  private final String name;
  private final Routes routes;
  private final LiveEvents events;
  private final PageListener.Bounds bounds;
  private @Nullable Future<?> end;
  private boolean answered;

  PageHandler(String name, Routes routes, LiveEvents events, PageListener.Bounds bounds) {
    this.name = name;
    this.routes = routes;
    this.events = events;
    this.bounds = bounds;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    closeAfter(ctx, bounds.connectionLife());
    ctx.channel()
        .closeFuture()
        .addListener(
            closed -> {
              if (end != null) {
                end.cancel(false);
              }
            });
  }

  private void closeAfter(ChannelHandlerContext ctx, Duration life) {
    if (end != null) {
      end.cancel(false);
    }
    end = ctx.executor().schedule(() -> ctx.close(), life.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
    if (answered) {
      return; // One request a connection; a client that pipelines asks again.
    }
    answered = true;
    if (request.decoderResult().isFailure()) {
      send(ctx, Reply.text(400, "not a valid HTTP request"));
      return;
    }
    String target = request.uri();
    int query = target.indexOf('?');
    String path = query < 0 ? target : target.substring(0, query);
    if (path.equals(EVENTS)) {
      listen(ctx, request.method());
      return;
    }
    routes
        .answer(request, path, ctx.channel().remoteAddress())
        .whenComplete(
            (reply, failure) -> {
              if (ctx.executor().inEventLoop()) {
                answer(ctx, reply, failure);
              } else {
                ctx.executor().execute(() -> answer(ctx, reply, failure));
              }
            });
  }

  private void answer(
      ChannelHandlerContext ctx, @Nullable Reply reply, @Nullable Throwable failure) {
    if (reply == null) {
      LOG.error("{}: a request was not answered", name, failure);
      send(ctx, Reply.refused(500, "a fault of Sluice, which is logged"));
    } else {
      send(ctx, reply);
    }
  }

  private static void send(ChannelHandlerContext ctx, Reply reply) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(reply.status()),
            ByteBufUtil.writeUtf8(ctx.alloc(), reply.body()));
    setHeaders(response, reply.contentType());
    reply.headers().forEach(response.headers()::set);
    response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes());
    ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }

  private static void setHeaders(HttpResponse response, String contentType) {
    ALWAYS.forEach(response.headers()::set);
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, contentType)
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
  }

  /** The end of the connection ends the events, so that no framing is needed. */
  private void listen(ChannelHandlerContext ctx, HttpMethod method) {
    if (!method.equals(HttpMethod.GET)) {
      send(ctx, Reply.notAllowed("GET"));
    } else if (!events.hasRoom()) {
      send(
          ctx,
          Reply.refused(503, "as many listen as may (expected: again later)")
              .with("retry-after", "60"));
    } else {
      closeAfter(ctx, bounds.eventsLife());
      HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
      setHeaders(head, "text/event-stream");
      events.add(ctx.channel(), ctx.writeAndFlush(head));
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof IOException)) {
      LOG.error("{}: connection closed", name, cause);
    }
    ctx.close();
  }
}
