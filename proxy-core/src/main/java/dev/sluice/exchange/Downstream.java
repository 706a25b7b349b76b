package dev.sluice.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** The downstream connection as its exchange sees it. Event loop only. */
public interface Downstream {

  /** What the exchanges of the connection's event loop share. */
  LoopContext context();

  /** Allocates what is written to the connection. */
  ByteBufAllocator alloc();

  /** Whether it is one connection too many, which takes no requests. */
  boolean isTooMany();

  /** Whether the caller reads chunked bodies: HTTP/1.1. */
  boolean readsChunks();

  /** Whether the caller takes what is written, as far as that is known now. */
  boolean isWritable();

  /** How much memory the bytes take that were written and that the caller has not taken. */
  long unsentBytes();

  /** How many bytes of the exchange's answer were written, head and framing included. */
  long answerBytes();

  /** Whether the connection will stay open after this exchange, as far as is known now. */
  boolean keepsAlive();

  /** The connection is to be closed after this exchange. */
  void closeAfterAnswer();

  /**
   * What is written last, or was, is to be taken soon: half a second later the connection is
   * closed. It is closed behind an answer whose last bytes are not written yet, in any case.
   */
  void closeSoon();

  /** The head passed all checks that need it alone: lets the body come. */
  void readBody();

  /**
   * Writes bytes of the answer, and takes the buffer; {@link #flush()} sends them. Before the first
   * it calls {@link Exchange#firstByte}, as {@link #writeLast} does.
   */
  void write(ByteBuf bytes);

  /** Sends what was written. */
  void flush();

  /** Writes and sends the last bytes of the answer; then calls {@link Exchange#delivered}. */
  void writeLast(ByteBuf bytes);

  /** The exchange has ended: the next request may be read, or the connection is closed. */
  void exchangeEnded();

  /** Closes the connection at once: the caller is not to take what it has for a whole answer. */
  void abort();
}
