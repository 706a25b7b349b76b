package dev.sluice.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A signal before anybody can react to it is not lost. */
final class HangUpTest {
  private final HangUp hangUp = new HangUp();
  private final AtomicInteger reactions = new AtomicInteger();

  @Test
  void signalsBeforeTheReactionIsKnownAreOneReaction() {
    hangUp.received();
    hangUp.received();
    hangUp.runs(reactions::incrementAndGet);
    assertThat(reactions).hasValue(1);
  }

  @Test
  void eachLaterSignalIsAReaction() {
    hangUp.runs(reactions::incrementAndGet);
    assertThat(reactions).hasValue(0);
    hangUp.received();
    hangUp.received();
    assertThat(reactions).hasValue(2);
  }
}
