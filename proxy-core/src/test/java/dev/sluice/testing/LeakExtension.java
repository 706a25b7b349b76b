package dev.sluice.testing;

import io.netty.util.LeakPresenceDetector;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class after which a buffer is not released, without waiting for a garbage collector.
 * Registered for every test class; needs the detector that the build sets with {@code
 * io.netty.customResourceLeakDetector}. To learn where a buffer was allocated, set {@code
 * io.netty.util.LeakPresenceDetector.trackCreationStack} to true.
 */
public final class LeakExtension implements AfterAllCallback {
  @Override
  public void afterAll(ExtensionContext context) {
    // What a nested class uses may live as long as the class around it.
    if (!context.getRequiredTestClass().isAnnotationPresent(Nested.class)) {
      LeakPresenceDetector.check();
    }
  }
}
