package dev.sluice.slots;

import dev.sluice.testing.Stress;
import org.junit.jupiter.api.Test;

class SlotsStressTest {
  @Test
  void noForbiddenOutcomeIsSeen() throws Exception {
    Stress.run(SlotsStress.class, 8);
  }
}
