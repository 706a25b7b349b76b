package dev.sluice.exchange;

import dev.sluice.error.Failure;
import dev.sluice.upstream.AnswerHandler.Next;
import io.netty.buffer.ByteBuf;

/** What is done with the body of an upstream's answer. Event loop only. */
interface AnswerBody {

  /** Takes the next bytes, framing included, and releases them. */
  Next body(ByteBuf bytes);

  /**
   * Whether the bytes taken last brought the answer forward, which is what an upstream has its time
   * for: in a stream a whole event ended, and comments are none.
   */
  default boolean progressed() {
    return true;
  }

  /** The connection ended: true where that is the body's right end, which has been dealt with. */
  boolean endedByClose();

  /** Sends on what {@link #body} wrote. */
  default void readComplete() {}

  /**
   * Ends the answer where its caller has all of it but for the end of its framing: what the
   * upstream does from then on is of no account.
   *
   * @return false where the caller has not, or its framing cannot be ended
   */
  default boolean finish() {
    return false;
  }

  /** The last bytes to the caller of an answer that breaks off after its head was sent. */
  ByteBuf lastWords(Failure failure);

  /** Lets go of what it holds itself, if anything; without effect the second time. */
  default void release() {}
}
