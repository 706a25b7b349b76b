package dev.sluice.access;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import dev.sluice.access.KeyCacheCounts.Result;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what the {@link KeyDirectory} said. Safe for all threads; never blocks.
 *
 * <table>
 *   <caption>Limits</caption>
 *   <tr><th>what</th><th>most</th><th>for</th></tr>
 *   <tr><td>keys that are known</td><td>100 000</td><td>60 s from when they were read</td></tr>
 *   <tr><td>hashes that are not</td><td>10 000</td><td>2 s</td></tr>
 *   <tr><td>questions to the directory</td><td></td><td>5 s, then they have failed</td></tr>
 * </table>
 */
public final class KeyCache {
  /*
   * Two caches, so that a flood of random keys evicts other random keys and no good one. A load
   * that fails is remembered by neither. Concurrent look-ups of one hash share one load; were it not
   * bounded in time, one lost answer would hold up every later look-up of that hash.
   *
   * Forgetting everything cannot reach a load that is under way: it may have asked the directory
   * before, and be remembered after. So what is remembered bears the generation in which it was asked
   * for, and is of no use in any other.
   */
  private static final int MAX_KNOWN = 100_000;
  private static final Duration KNOWN_FOR = Duration.ofSeconds(60);
  private static final int MAX_UNKNOWN = 10_000;
  private static final Duration UNKNOWN_FOR = Duration.ofSeconds(2);

  /** How long a directory may take. */
  private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(5);

  private final KeyDirectory directory;
  private final Duration answeredWithin;
  private final KeyCacheCounts counts = new KeyCacheCounts();
  private final AsyncCache<KeyHash, Known> known;
  private final Cache<KeyHash, Boolean> unknown;
  private final AtomicInteger generation = new AtomicInteger();

  /** A key as the directory knew it in one generation. */
  private record Known(Key key, int generation) {}

  /**
   * An empty cache before this directory.
   *
   * @param ticker the clock that entries age by
   */
  public KeyCache(KeyDirectory directory, Ticker ticker) {
    this(directory, ticker, ANSWERED_WITHIN);
  }

  KeyCache(KeyDirectory directory, Ticker ticker, Duration answeredWithin) {
    this.directory = directory;
    this.answeredWithin = answeredWithin;
    this.known =
        Caffeine.newBuilder()
            .maximumSize(MAX_KNOWN)
            .expireAfterWrite(KNOWN_FOR)
            .ticker(ticker)
            .executor(Runnable::run)
            .buildAsync();
    this.unknown =
        Caffeine.newBuilder()
            .maximumSize(MAX_UNKNOWN)
            .expireAfterWrite(UNKNOWN_FOR)
            .ticker(ticker)
            .executor(Runnable::run)
            .build();
  }

  /** The key, where it is remembered: the way of almost every request. */
  public @Nullable Key getIfPresent(KeyHash hash) {
    CompletableFuture<Known> loaded = known.getIfPresent(hash);
    if (loaded == null || !loaded.isDone() || loaded.isCompletedExceptionally()) {
      return null;
    }
    Known found = loaded.getNow(null);
    if (found == null || found.generation != generation.get()) {
      return null;
    }
    counts.add(Result.HIT);
    return found.key;
  }

  /**
   * The key, or empty where there is none; asks the directory where neither is remembered. The
   * future fails when the directory cannot say. It completes on whichever thread the directory
   * answers on. What it says is of after the last {@link #invalidateAll()} before this call.
   */
  public CompletableFuture<Optional<Key>> find(KeyHash hash) {
    if (unknown.getIfPresent(hash) != null) {
      counts.add(Result.HIT_UNKNOWN);
      return CompletableFuture.completedFuture(Optional.empty());
    }
    int askedIn = generation.get();
    boolean[] own = new boolean[1];
    CompletableFuture<Known> loading =
        known.get(
            hash,
            (missing, executor) -> {
              own[0] = true;
              return load(missing);
            });
    return loading
        .handle(
            (found, failure) -> {
              if (found != null && found.generation - askedIn < 0) {
                known.asMap().remove(hash, loading); // by identity: the next may be there already
                return find(hash);
              }
              if (found == null && failure == null && !own[0]) {
                return find(hash); // that there is none does not say as of when
              }
              counts.add(
                  failure != null
                      ? Result.FAILED
                      : found == null ? Result.MISS_UNKNOWN : Result.MISS);
              if (failure != null) {
                known.asMap().remove(hash, loading); // gone before the caller can ask again
                throw new CompletionException(failure);
              }
              return CompletableFuture.completedFuture(
                  found == null ? Optional.<Key>empty() : Optional.of(found.key));
            })
        .thenCompose(answer -> answer);
  }

  /**
   * How often everything was forgotten. What was learnt from this cache is of the directory as it
   * is now as long as this has not moved since before it was asked.
   */
  public int generation() {
    return generation.get();
  }

  /** Forgets everything: what the directory says from now on counts at once. */
  public void invalidateAll() {
    generation.incrementAndGet();
    known.synchronous().invalidateAll();
    unknown.invalidateAll();
  }

  /** How look-ups were answered. */
  public KeyCacheCounts counts() {
    return counts;
  }

  @SuppressWarnings("NullAway") // a future of null is how an AsyncCache is told "no such entry"
  private CompletableFuture<Known> load(KeyHash hash) {
    int askedIn = generation.get();
    CompletableFuture<Optional<Key>> found;
    try {
      found = directory.find(hash).toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    return found
        .thenApply(
            key -> {
              if (key.isEmpty()) {
                rememberUnknown(hash, askedIn);
              }
              return key.map(good -> new Known(good, askedIn)).orElse(null);
            })
        .orTimeout(answeredWithin.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** What was asked before everything was forgotten must not be remembered after. */
  private void rememberUnknown(KeyHash hash, int askedIn) {
    unknown.put(hash, Boolean.TRUE);
    if (generation.get() != askedIn) {
      unknown.invalidate(hash);
    }
  }
}
