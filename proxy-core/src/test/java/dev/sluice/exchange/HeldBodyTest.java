package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.exchange.HeldBody.Added;
import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeldBodyTest {
  private static final int MAX_BYTES = 1 << 20;

  private final MemoryBudget budget = new MemoryBudget(1 << 22);
  private final HeldBody body = hold(budget, MemoryBudget.Claim.REQUEST);

  @Test
  void anEmptyBodyHoldsNothing() {
    assertThat(body.add(Bytes.of(""))).isEqualTo(Added.OK);

    assertThat(body.length()).isZero();
    assertThat(budget.heldBytes()).isZero();
    assertThat(Bytes.text(body.retainedContent())).isEmpty();
    body.release();
  }

  @Test
  void aBodyInOnePieceIsKeptAsItCame() {
    ByteBuf piece = Bytes.of("hello");
    body.add(piece);

    ByteBuf content = body.retainedContent();
    assertThat(content.memoryAddress()).isEqualTo(piece.memoryAddress());
    assertThat(Bytes.text(content)).isEqualTo("hello");
    assertThat(budget.heldBytes()).isEqualTo(5);
    body.release();
  }

  @Test
  void aSmallFirstPieceIsChargedForTheReadBufferThatItKeepsAlive() {
    ByteBuf read = ByteBufAllocator.DEFAULT.directBuffer(8192).writeZero(3000);
    body.add(read.readRetainedSlice(1000));
    read.release();
    assertThat(budget.heldBytes()).isEqualTo(8192);

    body.add(Bytes.of("moves into a block with it"));
    assertThat(read.refCnt()).isZero();
    assertThat(budget.heldBytes()).isEqualTo(64 << 10);
    body.release();
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void anAnswerHasRoomWhereNewRequestsHaveNone() {
    MemoryBudget small = new MemoryBudget(100);
    HeldBody request = hold(small, MemoryBudget.Claim.REQUEST);
    HeldBody answer = hold(small, MemoryBudget.Claim.ANSWER);

    assertThat(request.add(Bytes.of("x".repeat(100)))).isEqualTo(Added.OK);
    assertThat(small.isExhausted()).isTrue();
    assertThat(answer.add(Bytes.of("x".repeat(51)))).isEqualTo(Added.OVER_BUDGET);
    assertThat(answer.add(Bytes.of("x".repeat(50)))).isEqualTo(Added.OK);
    assertThat(small.heldBytes()).isEqualTo(150);
    request.release();
    answer.release();
    assertThat(small.heldBytes()).isZero();
  }

  @Test
  void aBodyMayFillItsBoundAndNotPassIt() {
    assertThat(body.add(Bytes.of("x".repeat(MAX_BYTES - 1)))).isEqualTo(Added.OK);
    assertThat(body.add(Bytes.of("xy"))).isEqualTo(Added.TOO_LARGE);
    assertThat(body.add(Bytes.of("y"))).isEqualTo(Added.OK);
    assertThat(body.add(Bytes.of("z"))).isEqualTo(Added.TOO_LARGE);
    assertThat(body.add(Bytes.of(""))).isEqualTo(Added.OK);
    assertThat(body.length()).isEqualTo(MAX_BYTES);
    body.release();
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void aTrickleHoldsLittleMoreThanItSent() {
    int count = 100_000;
    for (int i = 0; i < count; i++) {
      // Each byte comes in a read buffer of its own, much larger than it.
      ByteBuf read = ByteBufAllocator.DEFAULT.directBuffer(2048);
      read.writeByte('x');
      assertThat(body.add(read)).isEqualTo(Added.OK);
      assertThat(read.refCnt()).isEqualTo(i == 0 ? 1 : 0);
    }
    assertThat(budget.heldBytes()).isLessThan(count + 2 * (64 << 10));
    ByteBuf content = body.retainedContent();
    assertThat(content.readableBytes()).isEqualTo(count);
    content.release();
    body.release();
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void piecesOfAnySizeAreTheBodyInTheirOrderWithinWhatWasReserved() {
    Random random = new Random(11);
    for (int round = 0; round < 200; round++) {
      HeldBody any = hold(budget, MemoryBudget.Claim.REQUEST);
      StringBuilder expected = new StringBuilder();
      for (int i = random.nextInt(40); i > 0; i--) {
        int size =
            switch (random.nextInt(4)) {
              case 0 -> random.nextInt(3);
              case 1 -> random.nextInt(500);
              case 2 -> (16 << 10) - 2 + random.nextInt(4);
              default -> random.nextInt(40_000);
            };
        String piece = Character.toString('a' + random.nextInt(26)).repeat(size);
        if (any.add(Bytes.of(piece)) == Added.OK) {
          expected.append(piece);
        }
      }
      assertThat(any.length()).isEqualTo(expected.length());
      assertThat(budget.heldBytes()).isGreaterThanOrEqualTo(any.length());
      assertThat(Bytes.text(any.retainedContent())).isEqualTo(expected.toString());
      any.release();
      any.release();
      assertThat(budget.heldBytes()).isZero();
    }
  }

  @Test
  void aViewOutlivesTheBody() {
    body.add(Bytes.of("one, "));
    body.add(Bytes.of("two"));
    ByteBuf content = body.retainedContent();
    body.release();

    assertThat(Bytes.text(content)).isEqualTo("one, two");
  }

  @Test
  void aPieceThatTheBudgetHasNoRoomForIsNotTaken() {
    MemoryBudget small = new MemoryBudget(100);
    HeldBody first = hold(small, MemoryBudget.Claim.REQUEST);
    HeldBody second = hold(small, MemoryBudget.Claim.REQUEST);

    assertThat(first.add(Bytes.of("x".repeat(60)))).isEqualTo(Added.OK);
    assertThat(second.add(Bytes.of("x".repeat(41)))).isEqualTo(Added.OVER_BUDGET);
    assertThat(second.add(Bytes.of("x".repeat(40)))).isEqualTo(Added.OK);
    assertThat(small.isExhausted()).isTrue();
    assertThat(first.add(Bytes.of("x"))).isEqualTo(Added.OVER_BUDGET);
    first.release();
    assertThat(small.heldBytes()).isEqualTo(40);
    second.release();
    assertThat(small.heldBytes()).isZero();
    assertThat(small.isExhausted()).isFalse();
  }

  private static HeldBody hold(MemoryBudget budget, MemoryBudget.Claim claim) {
    return new HeldBody(ByteBufAllocator.DEFAULT, budget, claim, MAX_BYTES);
  }
}
