package dev.sluice.upstream;

import dev.sluice.http.BodyFraming;
import dev.sluice.http.ResponseHead;
import io.netty.buffer.ByteBuf;

/**
 * What an attempt learns of its connection, in this order: {@link #connected}, {@link #head},
 * {@link #body} as often as bytes come; or {@link #closed} at any point, after which nothing
 * follows. All on the event loop. Nothing is called after {@link UpstreamConnection#cancel()}.
 */
public interface AnswerHandler {
  /** What becomes of the connection. */
  enum Next {
    /** The answer has more bytes to come. */
    READ_ON,
    /** The answer ended with the last byte that came: the connection may carry another request. */
    REUSE,
    /** Nothing more is wanted or can be understood of it: it is closed. */
    CLOSE
  }

  /** The connection stands: the request is to be sent now. */
  void connected(UpstreamConnection connection);

  /** A head with a status of 200 or more came, whole and valid. */
  Next head(ResponseHead head, BodyFraming framing);

  /** Bytes of the body came, framing included. The buffer is the handler's to release. */
  Next body(ByteBuf bytes);

  /** All bytes that could be read for now were given to {@link #body}. */
  void readComplete();

  /** The answer is not valid HTTP. The connection is closed. */
  void malformed();

  /**
   * The connection is gone, or could not be made.
   *
   * @param stale whether it was a pooled connection that had died when it was reused: not one byte
   *     of an answer came, and the request can be sent again
   * @param orderly whether the upstream closed it on purpose: no reset, and over TLS with its last
   *     word, so that a body that ends with the connection is known to be whole (RFC 9112 section
   *     8)
   */
  void closed(boolean stale, boolean orderly);

  /** Sluice itself failed while it handled the answer. The connection is closed. */
  void fault(Throwable cause);
}
