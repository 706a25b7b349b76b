package dev.sluice.admin;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers one request of an operator and closes the connection. */
final class AdminHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  /** Prometheus' own text form, the default. */
  static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  /** The OpenMetrics text form, for those who ask for it. */
  static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private static final Logger LOG = LoggerFactory.getLogger(AdminHandler.class);
  private static final String JSON = "application/json";
  private static final String PLAIN_TEXT = "text/plain; charset=utf-8";
  private static final int SCRAPE_BYTES = 64 << 10;

  private final Metrics metrics;
  private final Supplier<Readiness> readiness;
  private final Supplier<String> config;
  private final Calls calls;
  private boolean answered;

  AdminHandler(
      Metrics metrics, Supplier<Readiness> readiness, Supplier<String> config, Calls calls) {
    this.metrics = metrics;
    this.readiness = readiness;
    this.config = config;
    this.calls = calls;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
    if (answered) {
      return; // One request a connection; a client that pipelines asks again.
    }
    answered = true;
    FullHttpResponse response = answer(ctx, request);
    response
        .headers()
        .setInt(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes())
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }

  private FullHttpResponse answer(ChannelHandlerContext ctx, FullHttpRequest request) {
    if (request.decoderResult().isFailure()) {
      return text(ctx, HttpResponseStatus.BAD_REQUEST, "not a valid HTTP request");
    }
    String target = request.uri();
    int query = target.indexOf('?');
    String path = query < 0 ? target : target.substring(0, query);
    return switch (path) {
      case "/metrics" -> onlyGet(ctx, request, () -> metrics(ctx, request));
      case "/healthz" -> onlyGet(ctx, request, () -> text(ctx, HttpResponseStatus.OK, "ok"));
      case "/readyz" -> onlyGet(ctx, request, () -> ready(ctx));
      case "/config" -> onlyGet(ctx, request, () -> config(ctx));
      default -> call(ctx, request, path);
    };
  }

  private FullHttpResponse call(ChannelHandlerContext ctx, FullHttpRequest request, String path) {
    Reply reply = calls.reply(request, path, ctx.channel().remoteAddress());
    if (reply == null) {
      return text(
          ctx,
          HttpResponseStatus.NOT_FOUND,
          "no such path (expected: /metrics, /healthz, /readyz, /config, " + Calls.PATHS + ")");
    }
    FullHttpResponse response =
        response(
            HttpResponseStatus.valueOf(reply.status()),
            JSON,
            ByteBufUtil.writeUtf8(ctx.alloc(), reply.json()));
    reply.headers().forEach(response.headers()::set);
    return response;
  }

  private static FullHttpResponse onlyGet(
      ChannelHandlerContext ctx, FullHttpRequest request, Supplier<FullHttpResponse> answer) {
    if (request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD)) {
      return answer.get(); // The codec leaves out the body of an answer to HEAD.
    }
    FullHttpResponse response =
        text(ctx, HttpResponseStatus.METHOD_NOT_ALLOWED, "no such method (expected: GET or HEAD)");
    response.headers().set(HttpHeaderNames.ALLOW, "GET, HEAD");
    return response;
  }

  private FullHttpResponse ready(ChannelHandlerContext ctx) {
    Readiness now = readiness.get();
    HttpResponseStatus status =
        now == Readiness.READY ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE;
    return text(ctx, status, now.label());
  }

  private FullHttpResponse config(ChannelHandlerContext ctx) {
    return response(HttpResponseStatus.OK, JSON, ByteBufUtil.writeUtf8(ctx.alloc(), config.get()));
  }

  private FullHttpResponse metrics(ChannelHandlerContext ctx, FullHttpRequest request) {
    String form = form(request.headers().getAll(HttpHeaderNames.ACCEPT));
    ByteBuf body = ctx.alloc().buffer(SCRAPE_BYTES);
    try (ByteBufOutputStream out = new ByteBufOutputStream(body)) {
      metrics.scrape(out, form);
      return response(HttpResponseStatus.OK, form, body);
    } catch (IOException | RuntimeException e) {
      body.release();
      LOG.error("metrics: not written", e);
      return text(ctx, HttpResponseStatus.INTERNAL_SERVER_ERROR, "metrics could not be written");
    }
  }

  private static String form(List<String> accepted) {
    for (String value : accepted) {
      if (value.toLowerCase(Locale.ROOT).contains("application/openmetrics-text")) {
        return OPEN_METRICS;
      }
    }
    return PROMETHEUS_TEXT;
  }

  private static FullHttpResponse text(
      ChannelHandlerContext ctx, HttpResponseStatus status, String line) {
    return response(status, PLAIN_TEXT, ByteBufUtil.writeUtf8(ctx.alloc(), line + "\n"));
  }

  private static FullHttpResponse response(
      HttpResponseStatus status, String contentType, ByteBuf body) {
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType);
    return response;
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof IOException)) {
      LOG.error("admin: connection closed", cause);
    }
    ctx.close();
  }
}
