package dev.sluice.demo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Answers the requests of one connection, one after the other. Event loop only. */
final class DemoHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  /** Most requests that may wait for their turn; a client that sends more is cut off. */
  private static final int MAX_WAITING = 16;

  private sealed interface Reply permits Whole, Stream {}

  private record Whole(FullHttpResponse response) implements Reply {}

  private record Stream(DemoFormat format, DemoAnswer answer, HttpVersion version)
      implements Reply {}

  private final long wordIntervalNanos;
  private final AtomicInteger runningStreams;

  /** The reply being sent, and those that wait behind it. */
  private final Queue<Reply> replies = new ArrayDeque<>();

  /** The next word of the stream being sent; null while none is. */
  private @Nullable Future<?> nextWord;

  DemoHandler(Duration wordInterval, AtomicInteger runningStreams) {
    this.wordIntervalNanos = wordInterval.toNanos();
    this.runningStreams = runningStreams;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
    if (replies.size() > MAX_WAITING) {
      ctx.close();
      return;
    }
    replies.add(reply(request));
    if (replies.size() == 1) {
      send(ctx);
    }
  }

  private static Reply reply(FullHttpRequest request) {
    String path = path(request);
    DemoFormat format = DemoFormat.ofPath(path);
    if (request.decoderResult().isFailure()) {
      FullHttpResponse response =
          json(
              HttpResponseStatus.BAD_REQUEST,
              format.error("invalid_request_error", "request: malformed (expected: HTTP/1.1)"));
      HttpUtil.setKeepAlive(response, false);
      return new Whole(response);
    }
    if (!DemoFormat.isOperation(path)) {
      return new Whole(
          json(
              HttpResponseStatus.NOT_FOUND,
              format.error(
                  "not_found_error",
                  "path: unknown (expected: /v1/chat/completions or /v1/messages)")));
    }
    if (!request.method().equals(HttpMethod.POST)) {
      FullHttpResponse response =
          json(
              HttpResponseStatus.METHOD_NOT_ALLOWED,
              format.error("invalid_request_error", "method: not allowed (expected: POST)"));
      response.headers().set(HttpHeaderNames.ALLOW, HttpMethod.POST);
      return new Whole(response);
    }
    DemoRequest question;
    try {
      question = DemoRequest.read(ByteBufUtil.getBytes(request.content()));
    } catch (DemoRequest.Invalid e) {
      return new Whole(
          json(
              HttpResponseStatus.BAD_REQUEST,
              format.error("invalid_request_error", e.getMessage())));
    }
    DemoAnswer answer = DemoAnswer.to(question);
    return question.stream()
        ? new Stream(format, answer, request.protocolVersion())
        : new Whole(json(HttpResponseStatus.OK, format.whole(answer)));
  }

  private void send(ChannelHandlerContext ctx) {
    Reply reply = replies.peek();
    if (reply instanceof Whole whole) {
      ctx.writeAndFlush(whole.response());
      replies.remove();
      send(ctx);
    } else if (reply instanceof Stream stream) {
      runningStreams.incrementAndGet();
      HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
      head.headers()
          .set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8")
          .set(HttpHeaderNames.CACHE_CONTROL, "no-cache");
      // An HTTP/1.0 client reads to the end of the connection.
      HttpUtil.setTransferEncodingChunked(head, stream.version().equals(HttpVersion.HTTP_1_1));
      ctx.write(head);
      write(ctx, stream.format().start(stream.answer()));
      scheduleWord(ctx, stream, 0);
    }
  }

  private void scheduleWord(ChannelHandlerContext ctx, Stream stream, int index) {
    nextWord =
        ctx.executor()
            .schedule(() -> sendWord(ctx, stream, index), wordIntervalNanos, TimeUnit.NANOSECONDS);
  }

  private void sendWord(ChannelHandlerContext ctx, Stream stream, int index) {
    DemoAnswer answer = stream.answer();
    write(ctx, stream.format().word(answer, answer.delta(index)));
    if (index + 1 < answer.words().size()) {
      scheduleWord(ctx, stream, index + 1);
      return;
    }
    write(ctx, stream.format().end(answer));
    nextWord = null;
    runningStreams.decrementAndGet();
    ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
    replies.remove();
    send(ctx);
  }

  private static void write(ChannelHandlerContext ctx, String events) {
    ctx.writeAndFlush(new DefaultHttpContent(utf8(events)));
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (nextWord != null) {
      nextWord.cancel(false);
      nextWord = null;
      runningStreams.decrementAndGet();
    }
    replies.clear();
    ctx.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close();
  }

  /** The path of a request, without its query. */
  static String path(HttpRequest request) {
    String uri = request.uri();
    int query = uri.indexOf('?');
    return query < 0 ? uri : uri.substring(0, query);
  }

  static FullHttpResponse json(HttpResponseStatus status, String json) {
    ByteBuf body = utf8(json);
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, "application/json")
        .setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
    return response;
  }

  private static ByteBuf utf8(String text) {
    return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.UTF_8));
  }
}
