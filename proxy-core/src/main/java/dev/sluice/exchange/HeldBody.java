package dev.sluice.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/** A body as it came, held whole, in bounded memory. Event loop only. */
public final class HeldBody {
  /*
   * A piece that fills most of its read buffer is kept as it is. Small pieces would keep a whole
   * read buffer alive each, so that a trickle could hold a hundred times what it sent: they are
   * copied together into blocks. The first piece is kept whatever its size, as most bodies are one
   * piece; it moves into a block when a second one comes. Until then the budget is charged for all
   * of the read buffer that it keeps alive, and not only for the piece.
   */
  private static final int KEEP_BYTES = 16 << 10;
  private static final int BLOCK_BYTES = 64 << 10;

  /** What became of a piece. */
  public enum Added {
    OK,
    /** The body is over its bound. */
    TOO_LARGE,
    /** The memory budget of all bodies has no room. */
    OVER_BUDGET
  }

  private final ByteBufAllocator alloc;
  private final MemoryBudget budget;
  private final MemoryBudget.Claim claim;
  private final int maxBytes;
  private final List<ByteBuf> pieces = new ArrayList<>(1);
  private long reservedBytes;
  private int firstPinsBytes;
  private int length;
  private boolean lastIsBlock;

  /** An empty body that may grow to this many bytes. */
  HeldBody(ByteBufAllocator alloc, MemoryBudget budget, MemoryBudget.Claim claim, int maxBytes) {
    this.alloc = alloc;
    this.budget = budget;
    this.claim = claim;
    this.maxBytes = maxBytes;
  }

  /** Adds the next bytes. Takes the buffer, whatever becomes of it. */
  public Added add(ByteBuf piece) {
    int bytes = piece.readableBytes();
    if (bytes > maxBytes - length) {
      piece.release();
      return Added.TOO_LARGE;
    }
    boolean first = pieces.isEmpty();
    boolean keep = first || bytes >= KEEP_BYTES;
    int pinned = first ? pinnedBytes(piece) : bytes;
    if (bytes == 0 || !(keep ? reserve(pinned) : reserveBlocks(bytes))) {
      piece.release();
      return bytes == 0 ? Added.OK : Added.OVER_BUDGET;
    }
    if (first) {
      firstPinsBytes = pinned;
    }
    length += bytes;
    if (keep) {
      pieces.add(piece);
      lastIsBlock = false;
    } else {
      copy(piece);
    }
    return Added.OK;
  }

  /** All of the buffer that a piece is a part of lives as long as the piece. */
  private static int pinnedBytes(ByteBuf piece) {
    ByteBuf whole = piece;
    while (whole.unwrap() != null) {
      whole = whole.unwrap();
    }
    return Math.max(whole.capacity(), piece.readableBytes());
  }

  private boolean reserve(int bytes) {
    if (!budget.tryReserve(claim, bytes)) {
      return false;
    }
    reservedBytes += bytes;
    return true;
  }

  /** Reserves what {@link #copy} will allocate for this many bytes. */
  private boolean reserveBlocks(int bytes) {
    int room = lastIsBlock ? pieces.get(pieces.size() - 1).maxWritableBytes() : 0;
    return room >= bytes || reserve(BLOCK_BYTES);
  }

  private void copy(ByteBuf piece) {
    try {
      if (pieces.size() == 1 && !lastIsBlock && length - piece.readableBytes() < KEEP_BYTES) {
        ByteBuf first = pieces.get(0);
        ByteBuf block = block();
        pieces.remove(0);
        block.writeBytes(first);
        first.release();
        reservedBytes -= firstPinsBytes;
        budget.release(firstPinsBytes);
      }
      while (piece.isReadable()) {
        ByteBuf last = pieces.get(pieces.size() - 1);
        ByteBuf block = lastIsBlock && last.isWritable() ? last : block();
        block.writeBytes(piece, Math.min(block.writableBytes(), piece.readableBytes()));
      }
    } finally {
      piece.release();
    }
  }

  private ByteBuf block() {
    ByteBuf block = alloc.directBuffer(BLOCK_BYTES, BLOCK_BYTES);
    pieces.add(block);
    lastIsBlock = true;
    return block;
  }

  /** How many bytes it has. */
  public int length() {
    return length;
  }

  /** A view of all bytes, with a reference of its own that the caller releases. */
  public ByteBuf retainedContent() {
    if (pieces.isEmpty()) {
      return Unpooled.EMPTY_BUFFER;
    }
    if (pieces.size() == 1) {
      return pieces.get(0).retainedDuplicate();
    }
    CompositeByteBuf content = alloc.compositeBuffer(pieces.size());
    for (ByteBuf piece : pieces) {
      content.addComponent(true, piece.retainedDuplicate());
    }
    return content;
  }

  /** Lets go of the bytes and of their share of the budget; without effect the second time. */
  public void release() {
    for (ByteBuf piece : pieces) {
      piece.release();
    }
    pieces.clear();
    lastIsBlock = false;
    budget.release(reservedBytes);
    reservedBytes = 0;
  }
}
