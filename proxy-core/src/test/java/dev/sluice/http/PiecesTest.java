package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PiecesTest {
  private static final int SMALL_BYTES = 4096;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 300, SMALL_BYTES})
  void aSmallBodyIsCopiedBehindItsHead(int bytes) {
    ByteBuf head = Bytes.of("head");
    ByteBuf body = Bytes.of("b".repeat(bytes));

    assertThat(Pieces.append(head, body)).isTrue();
    assertThat(body.refCnt()).isZero();
    assertThat(Pieces.room(bytes)).isEqualTo(bytes);
    assertThat(Bytes.text(head)).isEqualTo("head" + "b".repeat(bytes));
  }

  @Test
  void aLargerBodyStaysWhereItIs() {
    ByteBuf head = Bytes.of("head");
    ByteBuf body = Bytes.of("b".repeat(SMALL_BYTES + 1));

    assertThat(Pieces.append(head, body)).isFalse();
    assertThat(Pieces.room(SMALL_BYTES + 1)).isZero();
    assertThat(Bytes.text(head)).isEqualTo("head");
    assertThat(Bytes.text(body)).hasSize(SMALL_BYTES + 1);
  }
}
