package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Errors.assertErrorEvent;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.Order;
import dev.sluice.testing.RawClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * A constant number of exchanges at once, streams and whole answers, in both dialects, until it is
 * told to stop. Of each answer every byte is checked: it is what was ordered, whole; or an error in
 * the one shape; or a stream that has some of its events, then the error event, and no end.
 */
final class SteadyLoad implements AutoCloseable {
  /** An exchange that did not complete. */
  record Failed(String requestId, int status, boolean begun) {}

  /** What has happened since the last time it was asked. */
  record Tally(long started, long completed, List<Failed> failed) {}

  /** A caller that was turned away waits that long before it asks again. */
  private static final Duration TURNED_AWAY = Duration.ofMillis(200);

  private final int port;
  private final String model;
  private final List<String> keys;
  private final List<Thread> callers = new ArrayList<>();
  private final AtomicLong tickets = new AtomicLong();

  /** For each caller the ticket of the exchange that it waits for; 0 between two. */
  private final AtomicLongArray waiting;

  private final AtomicLong completed = new AtomicLong();
  private final List<Failed> failed = new ArrayList<>();
  private final List<Throwable> violations = new CopyOnWriteArrayList<>();
  private volatile boolean stopped;

  private long startedBefore;
  private long completedBefore;

  /** Starts that many callers, who use these keys in turn. */
  SteadyLoad(int port, String model, List<String> keys, int callers, SplittableRandom random) {
    this.port = port;
    this.model = model;
    this.keys = keys;
    this.waiting = new AtomicLongArray(callers);
    for (int i = 0; i < callers; i++) {
      int caller = i;
      SplittableRandom own = random.split();
      Thread thread = new Thread(() -> call(caller, own), "caller-" + i);
      thread.setDaemon(true);
      this.callers.add(thread);
    }
    this.callers.forEach(Thread::start);
  }

  /** How many exchanges have completed. */
  long completed() {
    return completed.get();
  }

  /** How many exchanges have failed since the last tally. */
  int failed() {
    synchronized (failed) {
      return failed.size();
    }
  }

  /** How many exchanges are under way. */
  int open() {
    int open = 0;
    for (int i = 0; i < waiting.length(); i++) {
      open += waiting.get(i) == 0 ? 0 : 1;
    }
    return open;
  }

  /** Waits until every exchange that is under way now has ended. */
  void settle() {
    long last = tickets.get();
    Eventually.within(
        Duration.ofSeconds(30),
        "every exchange up to " + last + " has ended",
        () -> {
          for (int i = 0; i < waiting.length(); i++) {
            long ticket = waiting.get(i);
            if (ticket != 0 && ticket <= last) {
              return false;
            }
          }
          return true;
        });
  }

  /** Waits until that many more exchanges have completed, and fails if an answer was not right. */
  void completeMore(int exchanges) {
    long enough = completed.get() + exchanges;
    Eventually.within(
        Duration.ofSeconds(60),
        exchanges + " more exchanges complete",
        () -> {
          assertNoViolations();
          return completed.get() >= enough;
        });
  }

  /** What has ended since the last tally; what is under way will be in a later one. */
  Tally tally() {
    synchronized (failed) {
      long nowStarted = tickets.get();
      long nowCompleted = completed.get();
      Tally tally =
          new Tally(
              nowStarted - startedBefore, nowCompleted - completedBefore, List.copyOf(failed));
      failed.clear();
      startedBefore = nowStarted;
      completedBefore = nowCompleted;
      return tally;
    }
  }

  /** Fails if any answer was neither what was ordered nor an honest error. */
  void assertNoViolations() {
    for (Throwable violation : violations) {
      throw new AssertionError(
          violations.size() + " answers were not right, as " + violation, violation);
    }
  }

  /** Starts no more exchanges, and waits for the last ones. */
  void stop() {
    stopped = true;
    settle();
  }

  @Override
  public void close() {
    stopped = true;
    for (Thread caller : callers) {
      try {
        caller.join(Duration.ofSeconds(30).toMillis());
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private void call(int caller, SplittableRandom random) {
    RawClient client = null;
    try {
      while (!stopped) {
        if (client == null) {
          client = RawClient.connect(port);
        }
        long ticket = tickets.incrementAndGet();
        waiting.set(caller, ticket);
        client = exchange(client, order(ticket, random), keys.get(caller % keys.size()));
        waiting.set(caller, 0);
        if (client == null) {
          Eventually.pause(TURNED_AWAY);
        }
      }
    } catch (RuntimeException | AssertionError e) {
      violations.add(e);
    } finally {
      waiting.set(caller, 0);
      if (client != null) {
        client.close();
      }
    }
  }

  private static Order order(long ticket, SplittableRandom random) {
    boolean stream = random.nextInt(10) < 6;
    return new Order(
        "t" + ticket,
        random.nextBoolean(),
        stream,
        random.nextInt(3, 11),
        stream ? random.nextInt(50, 150) : random.nextInt(20, 120),
        random.nextInt(stream ? 40 : 5000));
  }

  /** One exchange; gives the connection if it can be used for the next one at once. */
  private @Nullable RawClient exchange(RawClient client, Order order, String key) {
    Answer answer = client.exchange(order.request(model, key));
    if (answer.status() != 200) {
      assertError(answer, answer.status());
      fail(answer, false);
      client.close();
      return null;
    }
    if (answer.ending() == Ending.WHOLE) {
      assertThat(answer.text()).isEqualTo(order.whole());
      completed.incrementAndGet();
      if (answer.headers("connection").isEmpty()) {
        return client;
      }
      client.close(); // the answer says that it is the last one here
      return null;
    }
    assertBrokenOff(answer, order);
    fail(answer, true);
    client.close();
    return null;
  }

  private void fail(Answer answer, boolean begun) {
    synchronized (failed) {
      failed.add(new Failed(answer.header("x-request-id"), answer.status(), begun));
    }
  }

  /** Some of the events as ordered, at least one, and the error event: nothing else. */
  private static void assertBrokenOff(Answer answer, Order order) {
    assertThat(order.stream()).as("a stream: %s", answer).isTrue();
    assertThat(answer.ending()).isEqualTo(Ending.BROKEN_OFF);
    String events = "";
    for (int i = 0; i < order.events() && answer.text().startsWith(events + order.event(i)); i++) {
      events += order.event(i);
    }
    assertThat(events).as("events in %s", answer).isNotEmpty();
    assertErrorEvent(
        answer.text(), order.messages(), status(answer), answer.header("x-request-id"));
    assertThat(answer.text().substring(events.length()))
        .as("after the events")
        .startsWith(order.messages() ? "event: error\ndata: {\"error\":" : "data: {\"error\":");
  }

  private static int status(Answer answer) {
    String error = answer.text().substring(answer.text().lastIndexOf("{\"error\":"));
    if (error.contains("\"type\":\"authentication_error\"")) {
      return 401;
    }
    return error.contains("\"type\":\"overloaded_error\"") ? 503 : 502;
  }
}
