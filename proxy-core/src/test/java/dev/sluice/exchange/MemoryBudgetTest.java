package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.sluice.exchange.MemoryBudget.Claim;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
  @Test
  void aBudgetOfNothingIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new MemoryBudget(0));
  }

  @Test
  void aBudgetIsFullAtItsLimitAndNotBefore() {
    MemoryBudget budget = new MemoryBudget(10);
    assertThat(budget.tryReserve(Claim.REQUEST, 9)).isTrue();
    assertThat(budget.isExhausted()).isFalse();
    assertThat(budget.tryReserve(Claim.REQUEST, 2)).isFalse();
    assertThat(budget.heldBytes()).isEqualTo(9);
    assertThat(budget.tryReserve(Claim.REQUEST, 1)).isTrue();
    assertThat(budget.isExhausted()).isTrue();
    budget.release(10);
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void aReservationThatFailsNeverFailsOneThatFits() throws InterruptedException {
    MemoryBudget budget = new MemoryBudget(100);
    AtomicInteger refused = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    threads.add(
        new Thread(
            () -> {
              for (int i = 0; i < 500_000; i++) {
                if (budget.tryReserve(Claim.REQUEST, 101)) {
                  throw new AssertionError("larger than the limit");
                }
              }
            }));
    threads.add(
        new Thread(
            () -> {
              for (int i = 0; i < 500_000; i++) {
                if (budget.tryReserve(Claim.REQUEST, 50)) {
                  budget.release(50);
                } else {
                  refused.incrementAndGet();
                }
              }
            }));
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(refused).hasValue(0);
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void whatRunsTakesWhatItNeedsAndKeepsNewRequestsOut() {
    MemoryBudget budget = new MemoryBudget(10);
    long held = budget.resize(0, 25);
    assertThat(budget.isExhausted()).isTrue();
    assertThat(budget.heldBytes()).isEqualTo(25);
    assertThat(budget.tryReserve(Claim.REQUEST, 1)).isFalse();
    assertThat(budget.tryReserve(Claim.ANSWER, 1)).isFalse();
    held = budget.resize(held, 14);
    assertThat(budget.tryReserve(Claim.REQUEST, 1)).isFalse();
    assertThat(budget.tryReserve(Claim.ANSWER, 1)).isTrue();
    budget.release(1);
    budget.resize(held, 0);
    assertThat(budget.heldBytes()).isZero();
  }
}
