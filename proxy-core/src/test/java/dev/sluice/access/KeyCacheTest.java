package dev.sluice.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.KeyCacheCounts.Result;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class KeyCacheTest {
  private static final KeyHash GOOD = hash("good");
  private static final KeyHash BAD = hash("bad");
  private static final Key KEY = new Key("k", new Subscription("s", "free", true), null, false);

  private final AtomicLong clockNanos = new AtomicLong();
  private final Map<KeyHash, Key> keys = new HashMap<>(Map.of(GOOD, KEY));
  private final AtomicInteger asked = new AtomicInteger();
  private @Nullable RuntimeException failure;

  private final KeyCache cache = new KeyCache(this::find, clockNanos::get);

  private CompletionStage<Optional<Key>> find(KeyHash hash) {
    asked.incrementAndGet();
    return failure == null
        ? CompletableFuture.completedFuture(Optional.ofNullable(keys.get(hash)))
        : CompletableFuture.failedFuture(failure);
  }

  private void pass(Duration time) {
    clockNanos.addAndGet(time.toNanos());
  }

  @Test
  void aKeyIsAskedForOnceAndRememberedForAMinute() {
    assertThat(cache.getIfPresent(GOOD)).isNull();
    assertThat(cache.find(GOOD)).isCompletedWithValue(Optional.of(KEY));
    pass(Duration.ofSeconds(60).minusNanos(1));
    assertThat(cache.getIfPresent(GOOD)).isSameAs(KEY);
    assertThat(asked).hasValue(1);

    pass(Duration.ofNanos(1));
    assertThat(cache.getIfPresent(GOOD)).isNull();
    assertThat(cache.find(GOOD)).isCompletedWithValue(Optional.of(KEY));
    assertThat(asked).hasValue(2);
    assertThat(cache.counts().count(Result.HIT)).isEqualTo(1);
    assertThat(cache.counts().count(Result.MISS)).isEqualTo(2);
  }

  @Test
  void aHitDoesNotMakeAKeyStayLonger() {
    cache.find(GOOD);
    pass(Duration.ofSeconds(59));
    assertThat(cache.getIfPresent(GOOD)).isSameAs(KEY);
    pass(Duration.ofSeconds(2));
    assertThat(cache.getIfPresent(GOOD)).isNull();
  }

  @Test
  void anUnknownKeyIsRememberedForTwoSeconds() {
    assertThat(cache.find(BAD)).isCompletedWithValue(Optional.empty());
    pass(Duration.ofSeconds(2).minusNanos(1));
    assertThat(cache.find(BAD)).isCompletedWithValue(Optional.empty());
    assertThat(asked).hasValue(1);
    assertThat(cache.counts().count(Result.MISS_UNKNOWN)).isEqualTo(1);
    assertThat(cache.counts().count(Result.HIT_UNKNOWN)).isEqualTo(1);

    keys.put(BAD, KEY);
    pass(Duration.ofNanos(1));
    assertThat(cache.find(BAD)).isCompletedWithValue(Optional.of(KEY));
  }

  @Test
  void aFailureIsNotRemembered() {
    failure = new IllegalStateException("made to fail");
    assertThat(cache.find(GOOD)).isCompletedExceptionally();
    assertThat(cache.find(BAD)).isCompletedExceptionally();
    assertThat(cache.getIfPresent(GOOD)).isNull();

    failure = null;
    assertThat(cache.find(GOOD)).isCompletedWithValue(Optional.of(KEY));
    assertThat(cache.find(BAD)).isCompletedWithValue(Optional.empty());
    assertThat(cache.counts().count(Result.FAILED)).isEqualTo(2);
  }

  @Test
  void aDirectoryThatThrowsHasFailed() {
    KeyCache throwing =
        new KeyCache(
            hash -> {
              throw new IllegalStateException("made to fail");
            },
            clockNanos::get);
    assertThat(throwing.find(GOOD)).isCompletedExceptionally();
    assertThat(throwing.find(GOOD)).isCompletedExceptionally();
    assertThat(throwing.counts().count(Result.FAILED)).isEqualTo(2);
  }

  @Test
  void lookUpsAtTheSameTimeShareOneQuestion() {
    CompletableFuture<Optional<Key>> answer = new CompletableFuture<>();
    KeyCache slow = slow(answer);
    List<CompletableFuture<Optional<Key>>> found = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      found.add(slow.find(GOOD));
      assertThat(slow.getIfPresent(GOOD)).isNull();
    }
    assertThat(asked).hasValue(1);
    assertThat(found).noneMatch(CompletableFuture::isDone);

    answer.complete(Optional.of(KEY));
    assertThat(found).allSatisfy(one -> assertThat(one).isCompletedWithValue(Optional.of(KEY)));
  }

  @Test
  void lookUpsOfManyThreadsShareOneQuestion() throws InterruptedException {
    CompletableFuture<Optional<Key>> answer = new CompletableFuture<>();
    KeyCache slow = slow(answer);
    CountDownLatch begun = new CountDownLatch(8);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread thread =
          new Thread(
              () -> {
                CompletableFuture<Optional<Key>> found = slow.find(GOOD);
                begun.countDown();
                found.join();
              });
      threads.add(thread);
      thread.start();
    }
    assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
    answer.complete(Optional.of(KEY));
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(asked).hasValue(1);
  }

  @Test
  void aFloodOfRandomKeysDoesNotPushGoodOnesOut() {
    cache.find(GOOD);
    for (int i = 0; i < 150_000; i++) {
      cache.find(new KeyHash(i, i, i, i));
    }
    assertThat(cache.getIfPresent(GOOD)).isSameAs(KEY);
  }

  @Test
  void whatIsForgottenIsAskedForAgainAtOnce() {
    cache.find(GOOD);
    cache.find(BAD);
    keys.remove(GOOD);
    keys.put(BAD, KEY);

    cache.invalidateAll();

    assertThat(cache.getIfPresent(GOOD)).isNull();
    assertThat(cache.find(GOOD)).isCompletedWithValue(Optional.empty());
    assertThat(cache.find(BAD)).isCompletedWithValue(Optional.of(KEY));
  }

  @Test
  void aKeyThatWasAskedForBeforeAllIsForgottenIsNotRememberedAfter() {
    CompletableFuture<Optional<Key>> before = new CompletableFuture<>();
    CompletableFuture<Optional<Key>> after = new CompletableFuture<>();
    KeyCache slow = slow(before, after);
    CompletableFuture<Optional<Key>> early = slow.find(GOOD);

    slow.invalidateAll();
    CompletableFuture<Optional<Key>> late = slow.find(GOOD);
    before.complete(Optional.of(KEY));

    assertThat(early).isCompletedWithValue(Optional.of(KEY));
    assertThat(slow.getIfPresent(GOOD)).isNull();
    after.complete(Optional.empty());
    assertThat(late).isCompletedWithValue(Optional.empty());
    assertThat(slow.getIfPresent(GOOD)).isNull();
  }

  @Test
  void anUnknownKeyThatWasAskedForBeforeAllIsForgottenIsNotRememberedAfter() {
    CompletableFuture<Optional<Key>> before = new CompletableFuture<>();
    KeyCache slow = slow(before, CompletableFuture.completedFuture(Optional.of(KEY)));
    CompletableFuture<Optional<Key>> early = slow.find(GOOD);

    slow.invalidateAll();
    before.complete(Optional.empty());

    assertThat(early).isCompletedWithValue(Optional.empty());
    assertThat(slow.find(GOOD)).isCompletedWithValue(Optional.of(KEY));
  }

  @Test
  void whatWasReadBeforeAllIsForgottenAndRememberedAfterIsOfNoUse() {
    Key revoked = new Key("k", KEY.subscription(), null, true);
    List<KeyCache> own = new ArrayList<>();
    KeyCache changing =
        new KeyCache(
            hash -> {
              Optional<Key> read = Optional.ofNullable(keys.get(hash));
              if (asked.incrementAndGet() == 1) {
                keys.put(GOOD, revoked);
                elsewhere(() -> own.get(0).invalidateAll());
              }
              return CompletableFuture.completedFuture(read);
            },
            clockNanos::get);
    own.add(changing);
    int generation = changing.generation();
    assertThat(changing.find(GOOD)).isCompletedWithValue(Optional.of(KEY));

    assertThat(changing.generation()).isNotEqualTo(generation);
    assertThat(changing.getIfPresent(GOOD)).isNull();
    assertThat(changing.find(GOOD)).isCompletedWithValue(Optional.of(revoked));
    assertThat(changing.getIfPresent(GOOD)).isSameAs(revoked);
    assertThat(asked).hasValue(2);
  }

  @Test
  void aQuestionThatWasAskedBeforeAllIsForgottenIsNotSharedAfter() {
    for (Optional<Key> before : List.of(Optional.of(KEY), Optional.<Key>empty())) {
      Key changed = new Key("changed", KEY.subscription(), null, false);
      CompletableFuture<Optional<Key>> slow = new CompletableFuture<>();
      List<KeyCache> own = new ArrayList<>();
      asked.set(0);
      KeyCache changing =
          new KeyCache(
              hash -> {
                if (asked.incrementAndGet() == 1) {
                  elsewhere(() -> own.get(0).invalidateAll());
                  return slow;
                }
                return CompletableFuture.completedFuture(Optional.of(changed));
              },
              clockNanos::get);
      own.add(changing);
      CompletableFuture<Optional<Key>> early = changing.find(GOOD);
      CompletableFuture<Optional<Key>> late = changing.find(GOOD);
      assertThat(late).isNotDone();
      slow.complete(before);

      assertThat(early).isCompletedWithValue(before);
      assertThat(late).isCompletedWithValue(Optional.of(changed));
    }
  }

  /** On another thread, to its end. */
  private static void elsewhere(Runnable task) {
    Thread thread = new Thread(task);
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aDirectoryThatNeverAnswersIsAskedAgain() {
    KeyCache slow =
        new KeyCache(
            answers(new CompletableFuture<>(), CompletableFuture.completedFuture(Optional.of(KEY))),
            clockNanos::get,
            Duration.ofMillis(20));
    CompletableFuture<Optional<Key>> first = slow.find(GOOD);

    assertThat(first)
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(TimeoutException.class);
    assertThat(slow.find(GOOD)).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(Optional.of(KEY));
  }

  private KeyCache slow(CompletableFuture<?>... answers) {
    return new KeyCache(answers(answers), clockNanos::get);
  }

  /** Answers the first question with the first future, and so on; the last one again and again. */
  @SuppressWarnings("unchecked")
  private KeyDirectory answers(CompletableFuture<?>... answers) {
    return hash ->
        (CompletableFuture<Optional<Key>>)
            answers[Math.min(asked.getAndIncrement(), answers.length - 1)];
  }

  private static KeyHash hash(String key) {
    return KeyHash.of(key.getBytes(StandardCharsets.US_ASCII));
  }
}
