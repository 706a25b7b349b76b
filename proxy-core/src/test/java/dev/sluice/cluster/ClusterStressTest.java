package dev.sluice.cluster;

import dev.sluice.testing.Stress;
import org.junit.jupiter.api.Test;

class ClusterStressTest {
  @Test
  void noForbiddenOutcomeIsSeen() throws Exception {
    Stress.run(ClusterStress.class, 4);
  }
}
