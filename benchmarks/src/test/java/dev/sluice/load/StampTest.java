package dev.sluice.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StampTest {
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 123_456_789_012L, (1L << 48) - 1, 1L << 48, Long.MAX_VALUE, -5})
  void tellsItsAgeWhereverTheClockStands(long nanos) throws Exception {
    byte[] digits = stamp(nanos);

    assertThat(Stamp.age(digits, 0, nanos)).isZero();
    assertThat(Stamp.age(digits, 0, nanos + 1_000_000)).isEqualTo(1_000_000);
  }

  @Test
  void aTimeThatIsNotOverYetHasNoAge() throws Exception {
    assertThat(Stamp.age(stamp(2_000), 0, 1_000)).isZero();
  }

  @Test
  void refusesWhatIsNoTime() {
    assertThatThrownBy(() -> Stamp.age("00000000000g".getBytes(StandardCharsets.US_ASCII), 0, 0))
        .isInstanceOf(ProtocolException.class);
  }

  private static byte[] stamp(long nanos) {
    ByteBuf bytes = Unpooled.buffer().writeZero(Stamp.DIGITS);
    Stamp.write(bytes, 0, nanos);
    byte[] digits = new byte[Stamp.DIGITS];
    bytes.readBytes(digits);
    return digits;
  }
}
