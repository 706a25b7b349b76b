package dev.sluice.contract;

import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.FREE;
import static dev.sluice.contract.Scene.MESSAGES;
import static dev.sluice.contract.Scene.PRO;
import static dev.sluice.contract.Scene.PRO_TOO;
import static dev.sluice.contract.Scene.list;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Conversation;
import dev.sluice.testing.Eventually;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Request;
import dev.sluice.testing.Script;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Thousands of exchanges whose clients and upstreams die anywhere; afterwards nothing is held. */
@Tag("alone")
class RandomTrafficIT {
  @RegisterExtension static final Scene SCENE = new Scene();

  private static final int CLIENTS = 8;
  private static final int EXCHANGES = 400;

  /** One upstream's answer, cut at a random byte, ended in a random way. */
  private static final class RandomScript implements Script {
    private final SplittableRandom seeds;

    RandomScript(SplittableRandom seeds) {
      this.seeds = seeds;
    }

    @Override
    public void answer(Conversation conversation) throws IOException {
      SplittableRandom random;
      synchronized (seeds) {
        random = seeds.split();
      }
      boolean streaming = conversation.request().body().contains("\"stream\":true");
      boolean messages = conversation.request().line().contains(MESSAGES);
      String whole =
          switch (random.nextInt(6)) {
            case 0 -> "HTTP/1.1 500 Fault\r\nContent-Length: 0\r\n\r\n";
            case 1 -> "nonsense\r\n\r\n";
            default -> streaming ? events(random, messages) : json(random);
          };
      int cut = random.nextInt(2) == 0 ? whole.length() : random.nextInt(whole.length());
      for (int from = 0; from < cut; ) {
        int to = Math.min(cut, from + 1 + random.nextInt(600));
        if (random.nextInt(4) == 0) {
          conversation.pause(Duration.ofMillis(1));
        }
        conversation.write(whole.substring(from, to));
        from = to;
      }
      if (cut < whole.length() || random.nextInt(8) == 0) {
        if (random.nextBoolean()) {
          conversation.close();
        } else {
          conversation.reset();
        }
      }
    }

    private static String events(SplittableRandom random, boolean messages) {
      StringBuilder stream = new StringBuilder(Script.streamHead());
      for (int i = random.nextInt(1, 40); i > 0; i--) {
        stream.append(Script.chunks("data: " + "x".repeat(random.nextInt(200)) + "\n\n"));
      }
      if (random.nextInt(8) > 0) {
        stream.append(Script.chunks(messages ? Script.MESSAGE_STOP : Script.DONE));
      }
      return stream.append("0\r\n\r\n").toString();
    }

    private static String json(SplittableRandom random) {
      String json = "{\"text\":\"" + "x".repeat(random.nextInt(5000)) + "\"}";
      return Script.head(200, "application/json")
          + "Content-Length: "
          + json.length()
          + "\r\n\r\n"
          + json;
    }
  }

  private static Request request(SplittableRandom random) {
    String path = random.nextBoolean() ? CHAT : MESSAGES;
    Request request =
        switch (random.nextInt(10)) {
          case 0 -> list();
          case 1 -> Scene.chat("none");
          case 2, 3 -> Scene.chat("small");
          case 4 -> stream(path, "refusing");
          default -> stream(path, "small");
        };
    String[] keys = {PRO, PRO_TOO, FREE};
    return request.key(keys[random.nextInt(keys.length)]);
  }

  /** One connection's traffic: exchanges until either side ends it. */
  private static int converse(SplittableRandom random) {
    int done = 0;
    try (RawClient client = SCENE.client()) {
      while (random.nextInt(6) > 0) {
        done++;
        Request request = request(random);
        if (random.nextInt(10) == 0) {
          client.sendAsFarAsTaken(
              request.wire().substring(0, random.nextInt(request.wire().length())));
          break;
        }
        client.send(request);
        if (random.nextInt(5) == 0) {
          Eventually.pause(Duration.ofNanos(random.nextInt(3_000_000)));
          break;
        }
        Answer answer = client.read();
        assertThat(answer.status()).isIn(200, 403, 404, 429, 502, 503);
        if (answer.ending() != Answer.Ending.WHOLE || !answer.headers("connection").isEmpty()) {
          return done;
        }
      }
      if (random.nextBoolean()) {
        client.reset();
      }
    }
    return done;
  }

  @Test
  void afterThousandsOfExchangesThatDieAnywhereNothingIsHeld(TestReporter reporter)
      throws InterruptedException, ExecutionException, TimeoutException {
    long seed = Long.getLong("sluice.seed", System.nanoTime());
    reporter.publishEntry("seed", Long.toString(seed));
    SplittableRandom random = new SplittableRandom(seed);
    SCENE.upstream.always(new RandomScript(random.split()));
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        SplittableRandom own = random.split();
        running.add(
            clients.submit(
                () -> {
                  for (int done = 0; done < EXCHANGES; ) {
                    done += converse(own);
                  }
                }));
      }
      for (Future<?> each : running) {
        each.get(5, TimeUnit.MINUTES);
      }
    } catch (ExecutionException e) {
      throw new AssertionError("with -Dsluice.seed=" + seed, e);
    } finally {
      clients.shutdownNow();
    }

    SCENE.assertAtRest();
    SCENE.upstream.answers();
    assertThat(SCENE.exchange(Scene.chat("small")).status()).isEqualTo(200);
    SCENE.forgetUpstreamConnections();
    SCENE.sluice().collectGarbage();
    for (int i = 0; i < 20; i++) {
      assertThat(SCENE.exchange(stream(CHAT, "small")).status()).isEqualTo(502);
    }
    // Leaks were reported with these, and fail the scene.
  }
}
