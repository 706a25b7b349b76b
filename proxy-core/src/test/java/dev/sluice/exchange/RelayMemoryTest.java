package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.message.Operation;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a relay holds is of the memory budget, and all of it is given back. */
class RelayMemoryTest {
  private static final int FUZZ_ROUNDS = 1500;

  @ParameterizedTest
  @ValueSource(strings = {"transfer-encoding: chunked", "content-length: 99999"})
  void whatIsHeldBackOfAnEventIsOfTheBudget(String header) {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      String size = header.startsWith("transfer") ? "fff0\r\n" : "";
      fixture.upstream().answer(SseWire.head(header) + size + "data: 1\n\n");
      assertThat(fixture.budget.heldBytes()).isLessThan(300);
      fixture.upstream().answer("data: " + "x".repeat(10_000));
      fixture.upstream().answer("x".repeat(10_000));
      assertThat(fixture.budget.heldBytes()).isBetween(20_000L, 100_000L);
      fixture.upstream().answer("\n\n");
      fixture.exchange.downstreamClosed();
      assertThat(fixture.budget.heldBytes()).isZero();
    }
  }

  @Test
  void anEventThatIsSentAsItCameTakesNothing() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.upstream().answer(SseWire.head("transfer-encoding: chunked"));
      for (int i = 0; i < 3; i++) {
        fixture.upstream().answer("9\r\ndata: 1\n\n\r\n");
        assertThat(fixture.budget.heldBytes()).isZero();
      }
    }
  }

  @Test
  void whatASlowCallerHasNotTakenIsOfTheBudgetUntilItHas() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture
          .upstream()
          .answer(SseWire.head("transfer-encoding: chunked") + "9\r\ndata: 1\n\n\r\n");
      fixture.caller.unsent(40_000);
      assertThat(fixture.budget.heldBytes()).isEqualTo(40_000);
      fixture.caller.unsent(0);
      assertThat(fixture.budget.heldBytes()).isZero();
      fixture.caller.unsent(50_000);
      fixture.caller.slow = true;
      fixture.upstream().answer("d\r\ndata:[DONE]\n\n\r\n0\r\n\r\n");
      assertThat(fixture.budget.heldBytes()).as("still on its way").isEqualTo(50_000);
      fixture.caller.deliver(true);
      assertThat(fixture.budget.heldBytes()).isZero();
    }
  }

  @Test
  void aWholeAnswerIsNotCountedTwice() {
    try (ExchangeFixture fixture =
        ExchangeFixture.of(Operation.CHAT_COMPLETIONS, false, true).forward()) {
      fixture.caller.slow = true;
      fixture
          .upstream()
          .answer(
              "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
      long held = fixture.budget.heldBytes();
      assertThat(held).isPositive();
      fixture.caller.unsent(40_000);
      assertThat(fixture.budget.heldBytes()).isEqualTo(held);
      fixture.caller.deliver(true);
      assertThat(fixture.budget.heldBytes()).isZero();
    }
  }

  @Test
  void aRunningStreamIsNotRefusedWhereTheBudgetIsExhausted() {
    try (ExchangeFixture fixture = ExchangeFixture.stream().forward()) {
      fixture.budget.resize(0, fixture.budget.limitBytes());
      assertThat(fixture.budget.isExhausted()).isTrue();
      String event = "data: " + "x".repeat(50_000) + "\n\n";
      String wire =
          SseWire.chunks(event + "data: [DONE]\n\n", List.of(1, 20_000, 40_000)) + "0\r\n\r\n";
      fixture.upstream().answer(SseWire.head("transfer-encoding: chunked"));
      for (int from = 0; from < wire.length(); from += 8192) {
        fixture.upstream().answer(wire.substring(from, Math.min(wire.length(), from + 8192)));
      }

      assertThat(fixture.caller.answer().body()).isEqualTo(event + "data: [DONE]\n\n");
      fixture.budget.release(fixture.budget.limitBytes());
      assertThat(fixture.budget.heldBytes()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whateverHappensAllIsGivenBack(long seed) {
    Random random = new Random(seed);
    for (int round = 0; round < FUZZ_ROUNDS; round++) {
      boolean stream = random.nextInt(5) > 0;
      Operation operation = Operation.BUILT_IN.get(random.nextInt(2));
      boolean http11 = random.nextInt(3) > 0;
      Duration ping = stream && random.nextBoolean() ? Duration.ofSeconds(1) : Duration.ZERO;
      try (ExchangeFixture fixture =
          stream
              ? ExchangeFixture.pinging(operation, http11, ping)
              : ExchangeFixture.of(operation, false, http11)) {
        fixture.caller.eager = random.nextBoolean();
        fixture.caller.slow = random.nextInt(4) == 0;
        fixture.forward();
        Iterator<String> reads =
            SseWire.randomReads(randomAnswer(operation, stream, random), random).iterator();
        int steps = random.nextInt(200);
        for (int step = 0; step < steps && fixture.summaries.isEmpty(); step++) {
          step(fixture, reads, random);
        }
        if (fixture.summaries.isEmpty()) {
          fixture.exchange.downstreamClosed();
        }
        fixture.inspect();

        assertThat(fixture.budget.heldBytes()).as("round %d", round).isZero();
        assertThat(fixture.slots.inUse("free")).isZero();
        assertThat(fixture.caller.exchangesEnded).isEqualTo(1);
      }
    }
  }

  private static void step(ExchangeFixture fixture, Iterator<String> reads, Random random) {
    switch (random.nextInt(40)) {
      case 0 -> {
        if (fixture.upstream().isActive()) {
          fixture.upstream().reset();
        }
      }
      case 1 -> fixture.upstream().close();
      case 2 -> fixture.exchange.shutdown();
      case 3 -> fixture.exchange.downstreamClosed();
      case 4, 5, 6 -> fixture.caller.unsent(32_000 + random.nextInt(10_000));
      case 7, 8, 9 -> fixture.caller.unsent(0);
      case 10, 11 -> fixture.pass(Duration.ofSeconds(1 + random.nextInt(100)).toNanos());
      case 12 -> fixture.caller.deliver(random.nextBoolean());
      case 13 -> fixture.inspect();
      default -> {
        if (reads.hasNext()) {
          fixture.upstream().answer(reads.next());
        }
      }
    }
  }

  private static String randomAnswer(Operation operation, boolean stream, Random random) {
    if (!stream) {
      String json = "{\"x\":\"" + "x".repeat(random.nextInt(5000)) + "\"}";
      return "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
          + json.length()
          + "\r\n\r\n"
          + json;
    }
    String payload = SseWire.randomEvents(random);
    if (random.nextInt(10) == 0) {
      payload += "data: " + "x".repeat(100_000) + "\n\n";
    }
    if (random.nextInt(4) > 0) {
      payload += SseWire.randomTerminator(operation, random);
    }
    return switch (random.nextInt(3)) {
      case 0 -> SseWire.head("content-length: " + payload.length()) + payload;
      case 1 -> SseWire.head() + payload;
      default ->
          SseWire.head("transfer-encoding: chunked")
              + SseWire.randomChunks(payload, random)
              + SseWire.randomEnd(random);
    };
  }
}
