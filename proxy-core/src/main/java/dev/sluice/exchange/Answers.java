package dev.sluice.exchange;

import dev.sluice.error.ErrorBody;
import dev.sluice.error.Failure;
import dev.sluice.http.ConnectionTokens;
import dev.sluice.http.HeadWriter;
import dev.sluice.http.HttpDate;
import dev.sluice.http.Pieces;
import dev.sluice.http.RequestId;
import dev.sluice.http.ResponseHead;
import dev.sluice.slots.SlotsLeft;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;

/**
 * Writes the heads of answers, and whole answers of Sluice's own: the one place where it is done.
 */
final class Answers {
  /** How the end of a relayed body is told to the caller. */
  enum BodyEnd {
    LENGTH,
    CHUNKED,
    CLOSE
  }

  private static final String LIMIT_STREAMS = "x-ratelimit-limit-streams";
  private static final String REMAINING_STREAMS = "x-ratelimit-remaining-streams";

  private Answers() {}

  /** A failure in the one error shape. */
  static ByteBuf error(Exchange exchange, Failure failure) {
    byte[] json = ErrorBody.json(failure, exchange.requestId());
    HeadWriter answer = ownHead(exchange, failure.reason().status(), json.length);
    if (failure.reason().status() == 401) {
      answer.header(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
    }
    if (failure.retryAfterSeconds() > 0) {
      answer.header(HttpHeaderNames.RETRY_AFTER, failure.retryAfterSeconds());
    }
    if (failure.allow() != null) {
      answer.header(HttpHeaderNames.ALLOW, failure.allow());
    }
    return ownBody(exchange, answer, json);
  }

  /** An answer with a JSON body. */
  static ByteBuf json(Exchange exchange, int status, byte[] json) {
    return ownBody(exchange, ownHead(exchange, status, json.length), json);
  }

  private static HeadWriter ownHead(Exchange exchange, int status, int bodyBytes) {
    HeadWriter answer = HeadWriter.begin();
    statusLine(answer, status);
    answer.header(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON);
    answer.header(HttpHeaderNames.CONTENT_LENGTH, bodyBytes);
    answer.header(HttpHeaderNames.DATE, HttpDate.at(System.currentTimeMillis()));
    ownHeaders(exchange, answer);
    return answer;
  }

  private static ByteBuf ownBody(Exchange exchange, HeadWriter head, byte[] json) {
    ByteBuf answer = head.endOfLine().toBuffer(exchange.downstream().alloc(), json.length);
    return exchange.isHeadRequest() ? answer : answer.writeBytes(json);
  }

  /** The head of a relayed answer: the upstream's, but for what belongs to its connection. */
  static ByteBuf relayed(Exchange exchange, ResponseHead head, BodyEnd bodyEnd, int length) {
    HeadWriter answer = HeadWriter.begin();
    statusLine(answer, head.status());
    HttpHeaders headers = head.headers();
    ConnectionTokens connection = ConnectionTokens.of(headers);
    boolean dated = false;
    Iterator<Map.Entry<CharSequence, CharSequence>> entries = headers.iteratorCharSequence();
    while (entries.hasNext()) {
      Map.Entry<CharSequence, CharSequence> entry = entries.next();
      String name = entry.getKey().toString().toLowerCase(Locale.ROOT);
      if (name.equals("content-length")
          || name.equals(RequestId.HEADER)
          || name.equals(LIMIT_STREAMS) // an upstream's own are of another bound than the caller's
          || name.equals(REMAINING_STREAMS)
          || connection.endsHere(name)) {
        continue;
      }
      dated |= name.equals("date");
      answer.header(entry.getKey(), entry.getValue());
    }
    if (!dated) {
      answer.header(HttpHeaderNames.DATE, HttpDate.at(System.currentTimeMillis()));
    }
    switch (bodyEnd) {
      case LENGTH -> answer.header(HttpHeaderNames.CONTENT_LENGTH, length);
      case CHUNKED -> answer.header(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
      case CLOSE -> exchange.downstream().closeAfterAnswer();
    }
    ownHeaders(exchange, answer);
    return answer.endOfLine().toBuffer(exchange.downstream().alloc(), Pieces.room(length));
  }

  private static void statusLine(HeadWriter answer, int status) {
    answer
        .text("HTTP/1.1 ")
        .number(status)
        .text(" ")
        .text(HttpResponseStatus.valueOf(status).reasonPhrase())
        .endOfLine();
  }

  private static void ownHeaders(Exchange exchange, HeadWriter answer) {
    answer.header(RequestId.HEADER, exchange.requestId());
    SlotsLeft slots = exchange.slotsLeft();
    if (slots != null) {
      answer.header(LIMIT_STREAMS, slots.limit());
      answer.header(REMAINING_STREAMS, slots.remaining());
    }
    if (!exchange.downstream().keepsAlive()) {
      answer.header(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    } else if (!exchange.downstream().readsChunks()) {
      answer.header(
          HttpHeaderNames.CONNECTION,
          HttpHeaderValues.KEEP_ALIVE); // HTTP/1.0 asks for it and is told so
    }
  }
}
