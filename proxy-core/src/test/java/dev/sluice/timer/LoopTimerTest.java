package dev.sluice.timer;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoopTimerTest {
  private long clockNanos = Long.MAX_VALUE - 50; // a clock may pass its largest value
  private final LoopTimer timer = new LoopTimer(ImmediateEventExecutor.INSTANCE, () -> clockNanos);
  private final List<String> expired = new ArrayList<>();

  private final class Named extends Deadline {
    private final String name;
    private final Runnable action;

    Named(String name, Runnable action) {
      super(timer);
      this.name = name;
      this.action = action;
    }

    Named(String name) {
      this(name, () -> {});
    }

    @Override
    protected void expired() {
      expired.add(name);
      action.run();
    }
  }

  private void tickAfter(long nanos) {
    clockNanos += nanos;
    timer.tick();
  }

  @Test
  void aDeadlineExpiresOnceInItsTimeAndNotBefore() {
    new Named("a").arm(100);

    tickAfter(99);
    assertThat(expired).isEmpty();
    tickAfter(1);
    assertThat(expired).containsExactly("a");
    tickAfter(1000);
    assertThat(expired).containsExactly("a");
  }

  @Test
  void aDeadlineThatIsMovedExpiresAtItsNewTimeAlone() {
    Named a = new Named("a");
    a.arm(100);
    tickAfter(60);
    a.arm(100);
    tickAfter(60);
    assertThat(expired).isEmpty();
    a.arm(1);
    tickAfter(1);
    assertThat(expired).containsExactly("a");
  }

  @Test
  void timeIsCountedFromTheArmingAndNotFromTheLastTick() {
    Named a = new Named("a");
    clockNanos += 90;
    a.arm(100);

    tickAfter(99);
    assertThat(expired).isEmpty();
    tickAfter(1);
    assertThat(expired).containsExactly("a");
  }

  @Test
  void aDisarmedDeadlineIsSilentAndMayBeArmedAgain() {
    Named a = new Named("a");
    a.disarm();
    a.arm(10);
    a.disarm();
    a.disarm();
    tickAfter(20);
    assertThat(expired).isEmpty();

    a.arm(10);
    tickAfter(10);
    assertThat(expired).containsExactly("a");
  }

  @Test
  void aDeadlineMayArmItselfAgainWhenItExpires() {
    Named[] a = new Named[1];
    a[0] = new Named("a", () -> a[0].arm(10));
    a[0].arm(10);

    tickAfter(10);
    tickAfter(10);
    tickAfter(9);
    assertThat(expired).containsExactly("a", "a");
  }

  @Test
  void oneDeadlineMayDisarmOthersWhileTheTimerTicks() {
    // Whichever of the three is looked at first takes the other two away.
    Set<Named> all = new HashSet<>();
    for (String name : List.of("a", "b", "c")) {
      all.add(new Named(name, () -> all.forEach(Deadline::disarm)));
    }
    all.forEach(deadline -> deadline.arm(10));

    tickAfter(10);
    tickAfter(10);
    assertThat(expired).hasSize(1);
  }

  @Test
  void oneDeadlineMayArmOthersWhileTheTimerTicks() {
    Named other = new Named("other");
    new Named("a", () -> other.arm(5)).arm(10);

    tickAfter(10);
    assertThat(expired).containsExactly("a");
    tickAfter(5);
    assertThat(expired).containsExactly("a", "other");
  }

  @Test
  void aDeadlineThatFailsTakesNoOtherWithIt() {
    new Named("first").arm(10);
    new Named(
            "failing",
            () -> {
              throw new IllegalStateException("made to fail");
            })
        .arm(10);
    new Named("last").arm(10);

    tickAfter(10);
    assertThat(expired).containsExactlyInAnyOrder("first", "failing", "last");
    new Named("later").arm(10);
    tickAfter(10);
    assertThat(expired).endsWith("later").hasSize(4);
  }

  @Test
  void manyDeadlinesArmedMovedAndDisarmedAtRandomExpireAsAListOfTimesSays() {
    Random random = new Random(42);
    int count = 300;
    long[] due = new long[count]; // -1 where it is not armed
    List<Named> deadlines = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    long elapsed = 0;
    for (int i = 0; i < count; i++) {
      due[i] = -1;
      deadlines.add(new Named(Integer.toString(i)));
    }
    for (int round = 0; round < 500; round++) {
      for (int n = 0; n < 50; n++) {
        int i = random.nextInt(count);
        if (random.nextInt(3) == 0) {
          deadlines.get(i).disarm();
          due[i] = -1;
        } else {
          int delay = random.nextInt(200);
          deadlines.get(i).arm(delay);
          due[i] = elapsed + delay;
        }
      }
      int step = random.nextInt(40);
      elapsed += step;
      expected.clear();
      expired.clear();
      for (int i = 0; i < count; i++) {
        if (due[i] >= 0 && due[i] <= elapsed) {
          expected.add(Integer.toString(i));
          due[i] = -1;
        }
      }
      tickAfter(step);
      assertThat(expired).containsExactlyInAnyOrderElementsOf(expected);
    }
  }
}
