package dev.sluice.status;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Plan;
import dev.sluice.access.Subscription;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Models, keys and plans that are what a test says. */
final class FakeSource implements StatusSource {
  static final Plan PRO = new Plan("pro", 100, 10, Set.of(), true);
  static final Plan FREE = new Plan("free", 2, Plan.UNBOUNDED, Set.of("small"), false);

  final Map<String, ModelStatus> models = new LinkedHashMap<>();
  final Map<KeyHash, Key> keys = new HashMap<>();
  volatile boolean starting;
  volatile boolean keysUnknown;

  FakeSource model(String id, Availability availability) {
    return model(id, availability, null);
  }

  FakeSource model(String id, Availability availability, @Nullable Instant until) {
    models.put(id, new ModelStatus(id, availability, until));
    return this;
  }

  FakeSource key(
      String key, Plan plan, boolean active, @Nullable Instant expires, boolean revoked) {
    keys.put(
        KeyHash.of(key.getBytes(US_ASCII)),
        new Key("name-of-" + key, new Subscription("acme", plan.name(), active), expires, revoked));
    return this;
  }

  @Override
  public boolean isStarting() {
    return starting;
  }

  @Override
  public List<ModelStatus> models() {
    return List.copyOf(models.values());
  }

  @Override
  public CompletionStage<Optional<Key>> key(KeyHash hash) {
    return keysUnknown
        ? CompletableFuture.failedFuture(new IllegalStateException("no answer"))
        : CompletableFuture.completedFuture(Optional.ofNullable(keys.get(hash)));
  }

  @Override
  public @Nullable Plan plan(String name) {
    return switch (name) {
      case "pro" -> PRO;
      case "free" -> FREE;
      default -> null;
    };
  }

  @Override
  public int slotsInUse(String plan) {
    return plan.equals("pro") ? 42 : 2;
  }

  @Override
  public int slotsInUseByKey(String key) {
    return 3;
  }
}
