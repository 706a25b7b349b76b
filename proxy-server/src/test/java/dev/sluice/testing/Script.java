package dev.sluice.testing;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** How an upstream answers one request. When it leaves the connection open, the next may come. */
@FunctionalInterface
public interface Script {
  /** The event without which a stream of Chat Completions is not whole. */
  String DONE = "data: [DONE]\n\n";

  /** The event without which a stream of Messages is not whole. */
  String MESSAGE_STOP = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

  /** Answers. An exception ends the connection. */
  void answer(Conversation conversation) throws IOException;

  /** Whether it answers before it has read the request's body. */
  default boolean early() {
    return false;
  }

  /** Sends these bytes and leaves the connection open for another request. */
  static Script raw(String wire) {
    return conversation -> conversation.write(wire);
  }

  /** Closes without a byte. */
  static Script close() {
    return Conversation::close;
  }

  /** Resets without a byte. */
  static Script reset() {
    return Conversation::reset;
  }

  /** Says nothing until the proxy is gone. */
  static Script stall() {
    return Conversation::stall;
  }

  /** Sends every byte in a packet of its own. */
  static Script trickle(String wire) {
    return conversation -> {
      for (int i = 0; i < wire.length(); i++) {
        if (i > 0) {
          conversation.pause(Duration.ofMillis(1));
        }
        conversation.write(wire.substring(i, i + 1));
      }
    };
  }

  /** A whole JSON answer. */
  static Script json(int status, String json, String... headerLines) {
    String body = Wire.utf8(json);
    return raw(
        head(status, "application/json", headerLines)
            + "Content-Length: "
            + body.length()
            + "\r\n\r\n"
            + body);
  }

  /** A whole JSON answer with status 200. */
  static Script json(String json, String... headerLines) {
    return json(200, json, headerLines);
  }

  /** The head of an event stream that is chunked, its empty line included. */
  static String streamHead() {
    return head(200, "text/event-stream") + "Transfer-Encoding: chunked\r\n\r\n";
  }

  /** A chunked event stream, each event a chunk; whole where its terminator is among them. */
  static Script stream(String... events) {
    return raw(streamHead() + chunks(events) + "0\r\n\r\n");
  }

  /** Each text as a chunk. */
  static String chunks(String... texts) {
    StringBuilder chunks = new StringBuilder();
    for (String text : texts) {
      chunks.append(Wire.chunk(Wire.utf8(text)));
    }
    return chunks.toString();
  }

  /** A status line and headers, without the empty line. */
  static String head(int status, String contentType, String... headerLines) {
    StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Scripted\r\n");
    head.append("Content-Type: ").append(contentType).append("\r\n");
    for (String line : headerLines) {
      head.append(line).append("\r\n");
    }
    return head.toString();
  }

  /** Then something else on the same connection. */
  default Script then(Script next) {
    return conversation -> {
      answer(conversation);
      next.answer(conversation);
    };
  }

  /** Then a pause. */
  default Script thenPause(Duration time) {
    return then(conversation -> conversation.pause(time));
  }

  /** Then silence until the test says so. */
  default Script thenAwait(CountDownLatch said) {
    return then(conversation -> conversation.await(said));
  }

  /** Then the end of the connection. */
  default Script thenClose() {
    return then(close());
  }

  /** Then the end of the connection with a reset. */
  default Script thenReset() {
    return then(reset());
  }

  /** Then silence until the proxy is gone. */
  default Script thenStall() {
    return then(stall());
  }

  /** The same, before the request's body was read. */
  default Script beforeTheBody() {
    Script script = this;
    return new Script() {
      @Override
      public void answer(Conversation conversation) throws IOException {
        script.answer(conversation);
      }

      @Override
      public boolean early() {
        return true;
      }
    };
  }
}
