package dev.sluice.access;

import com.github.benmanes.caffeine.cache.Ticker;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** From a key's hash to the key, before a directory that answers at once. */
@State(Scope.Thread)
public class KeyLookUpBenchmark {
  /** How many keys there are; which of them calls is random. */
  @Param({"10", "10000", "1000000"})
  public int keys;

  private final Map<KeyHash, Key> directory = new HashMap<>();
  private final SplittableRandom random = new SplittableRandom(1);
  private KeyHash[] hashes;
  private KeyCache cache;

  @Setup
  public void fill() {
    Subscription subscription = new Subscription("s", "free", true);
    hashes = new KeyHash[keys];
    for (int i = 0; i < keys; i++) {
      hashes[i] = randomHash();
      directory.put(hashes[i], new Key("key-" + i, subscription, null, false));
    }
    cache =
        new KeyCache(
            hash -> CompletableFuture.completedFuture(Optional.ofNullable(directory.get(hash))),
            Ticker.systemTicker());
    if (one() == null || unknown().isPresent()) {
      throw new IllegalStateException("keys: not found (expected: those that there are)");
    }
  }

  private KeyHash randomHash() {
    return new KeyHash(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
  }

  /** The same key again and again: a hit. */
  @Benchmark
  public @Nullable Key one() {
    return find(hashes[0]);
  }

  /** Any of the keys: a hit where the cache has room for all of them. */
  @Benchmark
  public @Nullable Key any() {
    return find(hashes[random.nextInt(keys)]);
  }

  /** A key that nobody has, another one each time: a miss, which the directory is asked about. */
  @Benchmark
  public Optional<Key> unknown() {
    return cache.find(randomHash()).join();
  }

  private @Nullable Key find(KeyHash hash) {
    Key remembered = cache.getIfPresent(hash);
    return remembered != null ? remembered : cache.find(hash).join().orElse(null);
  }
}
