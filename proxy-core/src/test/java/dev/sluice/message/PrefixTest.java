package dev.sluice.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The first messages of a request, which all turns of a conversation have in common. */
class PrefixTest {
  private static final String SYSTEM = "{'role':'system','content':'Be brief.'}";
  private static final String USER = "{'content':'Hi \u00e9','role' : 'user'}";
  private static final String ANSWER = "{'role':'assistant','content':'Hello'}";
  private static final String MORE = "{'role':'user','content':'And now?'}";

  @Test
  void itReachesFromTheFirstMessageToTheEndOfTheFirstOneOfTheUser() {
    assertPrefix("{'model':'m','messages': [ " + USER + " ]}", USER);
    assertPrefix("{'messages':[" + SYSTEM + " , " + USER + "],'model':'m'}", SYSTEM + " , " + USER);
    assertPrefix(Bodies.messages(SYSTEM, USER, ANSWER, MORE), SYSTEM + "," + USER);
    assertPrefix(Bodies.messages(ANSWER, MORE, USER), ANSWER + "," + MORE);
  }

  @Test
  void itIsAllMessagesWhereNoneIsTheUsers() {
    assertPrefix(Bodies.messages(SYSTEM), SYSTEM);
    assertPrefix(Bodies.messages(SYSTEM, ANSWER), SYSTEM + "," + ANSWER);
    String users = "{'role':'users','content':''}";
    assertPrefix(Bodies.messages(users, ANSWER), users + "," + ANSWER);
  }

  @Test
  void itIsEmptyWhereThereAreNoMessages() {
    Operation operation = new Operation("x", "/x", Dialect.CHAT_COMPLETIONS, false);
    RequestFacts facts = Bodies.accepted("{'model':'m'}", operation);

    assertThat(facts.prefixStart()).isEqualTo(facts.prefixEnd());
    assertThat(hash("{}", 0, 0)).isEqualTo(PrefixHash.NONE);
  }

  private static void assertPrefix(String body, String prefix) {
    for (Operation operation : Operation.BUILT_IN) {
      RequestFacts facts = Bodies.accepted(body, operation);
      byte[] bytes = Bodies.bytes(body);
      byte[] found = Arrays.copyOfRange(bytes, facts.prefixStart(), facts.prefixEnd());
      assertThat(found).isEqualTo(Bodies.bytes(prefix));
    }
  }

  @Test
  void allTurnsOfAConversationHaveTheSameHashAndOthersDoNot() {
    long first = hashOf(Bodies.messages(SYSTEM, USER));

    assertThat(hashOf(Bodies.messages(SYSTEM, USER, ANSWER, MORE))).isEqualTo(first);
    assertThat(hashOf("{'stream':true," + Bodies.messages(SYSTEM, USER, ANSWER).substring(1)))
        .isEqualTo(first);
    assertThat(hashOf(Bodies.messages(SYSTEM, MORE))).isNotEqualTo(first);
    assertThat(hashOf(Bodies.messages(USER))).isNotEqualTo(first);
  }

  private static long hashOf(String body) {
    RequestFacts facts = Bodies.accepted(body, Operation.CHAT_COMPLETIONS);
    ByteBuf bytes = Unpooled.wrappedBuffer(Bodies.bytes(body));
    return PrefixHash.of(bytes, facts.prefixStart(), facts.prefixEnd());
  }

  @ParameterizedTest
  @CsvSource({
    "1, f3ab5e93af6c666d",
    "7, d536849d75defe33",
    "8, 2a07914772e18a20",
    "9, b0eccc502f7f7ee4",
    "100, 18a25ce0690ecb89"
  })
  void everyProcessHasTheSameHash(int length, String hash) {
    String text = "0123456789".repeat(10).substring(0, length);

    assertThat(Long.toHexString(hash(text, 0, length))).isEqualTo(hash);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 8, 64})
  void itDoesNotMatterHowTheBodyLies(int piece) {
    String text = text(1000);
    CompositeByteBuf pieces = Unpooled.compositeBuffer(1000);
    for (int i = 0; i < text.length(); i += piece) {
      String part = text.substring(i, Math.min(text.length(), i + piece));
      pieces.addComponent(true, Bytes.of(part));
    }
    ByteBuf moved = Bytes.of("before" + text);
    moved.skipBytes("before".length());
    try {
      for (int to = 100; to < 120; to++) {
        long expected = hash(text, 3, to);
        assertThat(PrefixHash.of(pieces, 3, to)).isEqualTo(expected);
        assertThat(PrefixHash.of(moved, 3, to)).isEqualTo(expected);
      }
      assertThat(pieces.readerIndex()).isZero();
    } finally {
      pieces.release();
      moved.release();
    }
  }

  @Test
  void onlyTheFirst64KiBCountAndTheLength() {
    String text = text(PrefixHash.MOST_BYTES + 10);
    String other = text.substring(0, PrefixHash.MOST_BYTES) + "0123456789";

    assertThat(hash(text, 0, text.length())).isEqualTo(hash(other, 0, other.length()));
    assertThat(hash(text, 0, text.length() - 1)).isNotEqualTo(hash(text, 0, text.length()));
  }

  @Test
  void everyByteCounts() {
    Set<Long> hashes = new HashSet<>();
    String text = text(40);
    for (int length = 1; length <= 40; length++) {
      hashes.add(hash(text, 0, length));
      for (int i = 0; i < length; i++) {
        char changed = (char) (text.charAt(i) ^ 1);
        String other = text.substring(0, i) + changed + text.substring(i + 1, length);
        hashes.add(hash(other, 0, length));
      }
    }

    assertThat(hashes).hasSize(40 + 40 * 41 / 2).doesNotContain(PrefixHash.NONE);
  }

  private static long hash(String text, int from, int to) {
    ByteBuf bytes = Bytes.of(text);
    try {
      return PrefixHash.of(bytes, from, to);
    } finally {
      bytes.release();
    }
  }

  private static String text(int length) {
    Random random = new Random(length);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) random.nextInt(256));
    }
    return text.toString();
  }
}
