package dev.sluice.exchange;

import static dev.sluice.http.HeadWriter.endOfLine;
import static dev.sluice.http.HeadWriter.header;
import static dev.sluice.http.HeadWriter.text;

import dev.sluice.error.ErrorBody;
import dev.sluice.error.Failure;
import dev.sluice.http.ConnectionTokens;
import dev.sluice.http.HttpDate;
import dev.sluice.http.ResponseHead;
import dev.sluice.slots.SlotsLeft;
import io.netty.buffer.ByteBuf;
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
    ByteBuf answer = ownHead(exchange, failure.reason().status(), json.length);
    if (failure.reason().status() == 401) {
      header(answer, "www-authenticate", "Bearer");
    }
    if (failure.retryAfterSeconds() > 0) {
      header(answer, "retry-after", Integer.toString(failure.retryAfterSeconds()));
    }
    if (failure.allow() != null) {
      header(answer, "allow", failure.allow());
    }
    return ownBody(exchange, answer, json);
  }

  /** An answer with a JSON body. */
  static ByteBuf json(Exchange exchange, int status, byte[] json) {
    return ownBody(exchange, ownHead(exchange, status, json.length), json);
  }

  private static ByteBuf ownHead(Exchange exchange, int status, int bodyBytes) {
    ByteBuf answer = exchange.downstream().alloc().directBuffer(320 + bodyBytes);
    statusLine(answer, status);
    header(answer, "content-type", "application/json");
    header(answer, "content-length", Integer.toString(bodyBytes));
    header(answer, "date", HttpDate.at(System.currentTimeMillis()));
    ownHeaders(exchange, answer);
    return answer;
  }

  private static ByteBuf ownBody(Exchange exchange, ByteBuf answer, byte[] json) {
    endOfLine(answer);
    return exchange.isHeadRequest() ? answer : answer.writeBytes(json);
  }

  /** The head of a relayed answer: the upstream's, but for what belongs to its connection. */
  static ByteBuf relayed(Exchange exchange, ResponseHead head, BodyEnd bodyEnd, int length) {
    ByteBuf answer = exchange.downstream().alloc().directBuffer(512);
    statusLine(answer, head.status());
    HttpHeaders headers = head.headers();
    ConnectionTokens connection = ConnectionTokens.of(headers);
    boolean dated = false;
    Iterator<Map.Entry<CharSequence, CharSequence>> entries = headers.iteratorCharSequence();
    while (entries.hasNext()) {
      Map.Entry<CharSequence, CharSequence> entry = entries.next();
      String name = entry.getKey().toString().toLowerCase(Locale.ROOT);
      if (name.equals("content-length")
          || name.equals("x-request-id")
          || name.equals(LIMIT_STREAMS) // an upstream's own are of another bound than the caller's
          || name.equals(REMAINING_STREAMS)
          || connection.endsHere(name)) {
        continue;
      }
      dated |= name.equals("date");
      header(answer, name, entry.getValue());
    }
    if (!dated) {
      header(answer, "date", HttpDate.at(System.currentTimeMillis()));
    }
    switch (bodyEnd) {
      case LENGTH -> header(answer, "content-length", Integer.toString(length));
      case CHUNKED -> header(answer, "transfer-encoding", "chunked");
      case CLOSE -> exchange.downstream().closeAfterAnswer();
    }
    ownHeaders(exchange, answer);
    endOfLine(answer);
    return answer;
  }

  private static void statusLine(ByteBuf answer, int status) {
    text(answer, "HTTP/1.1 ");
    text(answer, Integer.toString(status));
    answer.writeByte(' ');
    text(answer, HttpResponseStatus.valueOf(status).reasonPhrase());
    endOfLine(answer);
  }

  private static void ownHeaders(Exchange exchange, ByteBuf answer) {
    header(answer, "x-request-id", exchange.requestId());
    SlotsLeft slots = exchange.slotsLeft();
    if (slots != null) {
      header(answer, LIMIT_STREAMS, Integer.toString(slots.limit()));
      header(answer, REMAINING_STREAMS, Integer.toString(slots.remaining()));
    }
    if (!exchange.downstream().keepsAlive()) {
      header(answer, "connection", "close");
    } else if (!exchange.downstream().readsChunks()) {
      header(answer, "connection", "keep-alive"); // HTTP/1.0 asks for it and is told so
    }
  }
}
