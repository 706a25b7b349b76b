package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.netty.buffer.ByteBufAllocator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

class LeakExtensionTest {
  /** Not found by itself: it is run by the tests below. */
  static class Leaking {
    @Test
    void allocatesAndForgets() {
      ByteBufAllocator.DEFAULT.heapBuffer(16);
    }
  }

  static class Releasing {
    @Test
    void allocatesAndReleases() {
      ByteBufAllocator.DEFAULT.buffer(16).release();
    }
  }

  @Test
  void aClassThatForgetsABufferFails() {
    TestExecutionSummary summary = run(Leaking.class);

    assertThat(summary.getTestsSucceededCount()).isEqualTo(1);
    assertThat(failures(summary))
        .singleElement()
        .asString()
        .contains("Possible memory leak detected");
  }

  @Test
  void aClassThatReleasesItsBuffersPasses() {
    TestExecutionSummary summary = run(Releasing.class);

    assertThat(summary.getTestsSucceededCount()).isEqualTo(1);
    assertThat(failures(summary)).isEmpty();
  }

  private static TestExecutionSummary run(Class<?> testClass) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectClass(testClass)).build(),
            listener);
    return listener.getSummary();
  }

  private static List<Throwable> failures(TestExecutionSummary summary) {
    return summary.getFailures().stream().map(TestExecutionSummary.Failure::getException).toList();
  }
}
