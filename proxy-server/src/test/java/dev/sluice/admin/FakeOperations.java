package dev.sluice.admin;

import dev.sluice.pipeline.Maintenance;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Operations that remember what was done, and do it at once. */
final class FakeOperations implements Operations {
  final List<String> done = new ArrayList<>();
  final Map<String, Long> maintenance = new TreeMap<>();
  final Set<String> ejected = new TreeSet<>();
  private @Nullable Long deadlineSeconds;

  @Override
  public List<String> models() {
    return List.of("small", "openai/gpt-oss-120b");
  }

  @Override
  public Map<String, Long> maintenance() {
    return maintenance;
  }

  @Override
  public void maintain(String model, Duration length) {
    done.add("maintain " + model + " " + length);
    if (length.isZero()) {
      maintenance.remove(model);
    } else {
      maintenance.put(model, length.toSeconds());
    }
  }

  @Override
  public DrainReport drain() {
    return new DrainReport(
        deadlineSeconds != null, deadlineSeconds == null ? 0 : deadlineSeconds, 3, 2);
  }

  @Override
  public void drain(@Nullable Duration deadline) {
    done.add("drain " + deadline);
    deadlineSeconds = deadline == null ? 30 : deadline.toSeconds();
  }

  @Override
  public List<EndpointReport> endpoints() {
    return List.of(
        endpoint("small", "10.0.0.7:8000"),
        endpoint("small", "10.0.0.8:8000/base"),
        endpoint("openai/gpt-oss-120b", "10.0.0.7:8000"));
  }

  private EndpointReport endpoint(String model, String id) {
    boolean out = ejected.contains(model + " " + id);
    return new EndpointReport(model, id, out ? "out" : "healthy", out ? null : 0L, 1, 2);
  }

  @Override
  public void eject(String model, String endpoint) {
    done.add("eject " + model + " " + endpoint);
    ejected.add(model + " " + endpoint);
  }

  @Override
  public void restore(String model, String endpoint) {
    done.add("restore " + model + " " + endpoint);
    ejected.remove(model + " " + endpoint);
  }

  /** Everything is in maintenance. */
  void maintainAll(long seconds) {
    maintenance.put(Maintenance.ALL, seconds);
  }
}
