package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RequestIdTest {
  private static final int THREADS = 4;
  private static final int EACH = 50_000;

  @Test
  void everyIdHasTheOneForm() {
    for (int i = 0; i < 1000; i++) {
      assertThat(RequestId.next()).matches("req_[0-9a-hjkmnp-tv-z]{24}");
    }
  }

  @Test
  void noTwoIdsAreTheSameOnAnyThread() throws InterruptedException {
    Set<String> ids = ConcurrentHashMap.newKeySet();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int n = 0; n < EACH; n++) {
                  ids.add(RequestId.next());
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(ids).hasSize(THREADS * EACH);
  }

  @Test
  void everyCharacterOfAnIdVaries() {
    for (int at = 4; at < 28; at++) {
      int index = at;
      assertThat(
              IntStream.range(0, 2000)
                  .mapToObj(i -> RequestId.next().charAt(index))
                  .distinct()
                  .count())
          .isGreaterThan(24);
    }
  }
}
