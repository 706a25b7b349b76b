package dev.sluice.admin;

import dev.sluice.exchange.OpenExchange;
import dev.sluice.pipeline.Maintenance;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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
    return new EndpointReport(model, id, out ? "out" : "healthy", out ? null : 0L, false, 1, 2);
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

  @Override
  public List<Problem> problems() {
    return List.of(new Problem(true, "On fire."), new Problem(false, "Smoke."));
  }

  @Override
  public Overview overview() {
    return new Overview(3, 10, 2, 4, 20, 5, 50, List.of(new PlanReport("free", 1, 2)));
  }

  @Override
  public CompletionStage<List<OpenExchange>> oldestExchanges(int most) {
    return CompletableFuture.completedFuture(
        List.of(
            new OpenExchange(
                "req_1",
                "messages",
                "small",
                "free",
                "acme",
                OpenExchange.Phase.ANSWERING,
                true,
                "10.0.0.7:8000",
                1,
                0,
                90_999_999_999L,
                11,
                22,
                33),
            new OpenExchange(
                "req_2",
                "unknown",
                null,
                null,
                null,
                OpenExchange.Phase.OPEN,
                false,
                null,
                0,
                1,
                0,
                0,
                0,
                0)));
  }

  @Override
  public List<ReloadReport> reloads() {
    Instant at = Instant.parse("2026-05-04T03:02:01Z");
    return List.of(
        new ReloadReport(at, "keys.yaml", true, "the 2 keys known before stay", List.of("a", "b")),
        new ReloadReport(at, "sluice.yaml", false, "read at the start", List.of()));
  }

  /** Everything is in maintenance. */
  void maintainAll(long seconds) {
    maintenance.put(Maintenance.ALL, seconds);
  }
}
