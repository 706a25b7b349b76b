package dev.sluice.upstream;

import io.netty.channel.ChannelOutboundInvoker;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;

/**
 * Sends what the connections of one event loop, to both sides, have written: together, at the end
 * of the loop's turn. Event loop only.
 */
public final class LoopFlush {
  /*
   * Most of what an event costs is the kernel's: the way of its bytes through the stack, and waking
   * up whoever waits for them. A turn that reads from all sockets first and writes to all of them
   * then wakes a reader of many connections once and not once a connection, and each half finds its
   * code in the processor's caches. A long turn sends in between: who was read first is not to wait
   * for all others.
   */

  /** Most connections that wait for the end of the turn. */
  static final int MAX_WAITING = 32;

  private final EventLoop loop;
  private final ArrayDeque<ChannelOutboundInvoker> waiting = new ArrayDeque<>();
  private boolean scheduled;

  LoopFlush(EventLoop loop) {
    this.loop = loop;
  }

  /** Flushes a connection before the loop waits for events again. */
  public void add(ChannelOutboundInvoker connection) {
    assert loop.inEventLoop();
    waiting.add(connection);
    if (waiting.size() >= MAX_WAITING) {
      flush();
    } else if (!scheduled) {
      scheduled = true;
      loop.execute(this::endOfTurn);
    }
  }

  private void endOfTurn() {
    scheduled = false;
    flush();
  }

  private void flush() {
    ChannelOutboundInvoker connection;
    // What is delivered may let the next request begin, which is sent in the same turn.
    while ((connection = waiting.poll()) != null) {
      connection.flush();
    }
  }
}
