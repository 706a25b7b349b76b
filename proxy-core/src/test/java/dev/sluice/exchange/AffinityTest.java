package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.LiveEndpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Timeouts;
import dev.sluice.message.PrefixHash;
import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A model that is balanced by the first messages. */
class AffinityTest {
  private static final Model MODEL =
      new Model(
          "small",
          null,
          IntStream.range(0, 20)
              .mapToObj(i -> new Endpoint("10.0.0." + i, 8000, false, "", null))
              .toList(),
          Timeouts.DEFAULT,
          Balance.PREFIX_AFFINITY,
          Model.DEFAULT_ATTEMPTS,
          null,
          "acme",
          Instant.EPOCH);

  @Test
  void anExchangeGoesWhereItsFirstMessagesBelong() {
    ByteBuf body = Bytes.of(ExchangeFixture.BODY);
    long hash = PrefixHash.of(body, 29, 31);
    body.release();
    for (int i = 0; i < 3; i++) {
      try (ExchangeFixture fixture = ExchangeFixture.of(MODEL, true).forward()) {
        fixture.exchange.downstreamClosed();
        LiveEndpoint place =
            Objects.requireNonNull(fixture.cluster.pick(hash, List.of(), fixture.clockNanos));

        assertThat(fixture.summary().endpoint()).isEqualTo(place.endpoint());
      }
    }
  }
}
