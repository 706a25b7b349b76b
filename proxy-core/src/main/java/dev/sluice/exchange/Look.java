package dev.sluice.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.function.Consumer;

/**
 * Looks at the whole of a body as one array: on the event loop where that is quick, on another
 * thread where it would stall the loop's other streams.
 *
 * @param <T> what the look yields
 */
@FunctionalInterface
public interface Look<T> {
  /** Bodies larger than this are looked at off the loop: some 50 µs of work. */
  int MAX_ON_LOOP_BYTES = 256 << 10;

  /** Looks at the bytes; must keep no reference to them. */
  T at(byte[] bytes, int offset, int length);

  /**
   * Looks at a body and calls back on the event loop, once, before this returns or later. The
   * exchange may have ended meanwhile. Where the look or the call fails, the exchange ends with a
   * fault.
   */
  static <T> void at(Exchange exchange, HeldBody body, Look<T> look, Consumer<T> then) {
    ByteBuf content = body.retainedContent();
    if (content.readableBytes() <= MAX_ON_LOOP_BYTES) {
      T result;
      try {
        result = Scratch.look(content, look);
      } finally {
        content.release();
      }
      then.accept(result);
      return;
    }
    LoopContext context = exchange.downstream().context();
    try {
      context.inspectors().execute(() -> offLoop(exchange, content, look, then));
    } catch (RuntimeException e) {
      content.release();
      throw e;
    }
  }

  private static <T> void offLoop(
      Exchange exchange, ByteBuf content, Look<T> look, Consumer<T> then) {
    Runnable answer;
    try {
      T result = Scratch.look(content, look);
      answer = () -> then.accept(result);
    } catch (RuntimeException | Error e) {
      answer = () -> exchange.fault(e);
    } finally {
      content.release();
    }
    Runnable told = answer;
    exchange
        .downstream()
        .context()
        .loop()
        .execute(
            () -> {
              try {
                told.run();
              } catch (RuntimeException | Error e) {
                exchange.fault(e);
              }
            });
  }

  /** An array a thread, kept for the next body unless that would hold much memory. */
  final class Scratch {
    private static final int MAX_KEPT_BYTES = 4 << 20;

    private static final FastThreadLocal<byte[]> SCRATCH =
        new FastThreadLocal<>() {
          @Override
          protected byte[] initialValue() {
            return new byte[16 << 10];
          }
        };

    private Scratch() {}

    private static <T> T look(ByteBuf content, Look<T> look) {
      int length = content.readableBytes();
      if (content.hasArray()) {
        return look.at(content.array(), content.arrayOffset() + content.readerIndex(), length);
      }
      byte[] bytes = SCRATCH.get();
      if (bytes.length < length) {
        bytes = new byte[Math.max(length, Math.min(bytes.length * 2, MAX_KEPT_BYTES))];
        if (bytes.length <= MAX_KEPT_BYTES) {
          SCRATCH.set(bytes);
        }
      }
      content.getBytes(content.readerIndex(), bytes, 0, length);
      return look.at(bytes, 0, length);
    }
  }
}
