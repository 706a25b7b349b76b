package dev.sluice.message;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Much text is passed in blocks, and no byte of it goes unseen. */
class Base64BlocksTest {
  private static final String ALPHABET =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  private static final int BYTES = Base64Blocks.BYTES;

  @Test
  void eachByteAtEachPlaceOfABlockIsOfTheAlphabetOrEndsIt() {
    for (int at = 0; at < BYTES; at++) {
      byte[] text = text(2 * BYTES);
      for (int b = 0; b < 256; b++) {
        text[BYTES + at] = (byte) b;
        int behind = Base64Blocks.pass(text, 0, text.length);
        if (behind != (ALPHABET.indexOf(b) >= 0 ? 2 * BYTES : BYTES)) {
          throw new AssertionError("0x" + Integer.toHexString(b) + " at " + at + ": " + behind);
        }
      }
    }
  }

  @Test
  void twoWrongBytesDoNotMakeARightOne() {
    for (int first = 0; first < 256; first++) {
      for (int second = 0; second < 256; second++) {
        byte[] text = text(BYTES);
        text[8] = (byte) first;
        text[9] = (byte) second;
        boolean both = ALPHABET.indexOf(first) >= 0 && ALPHABET.indexOf(second) >= 0;
        if (Base64Blocks.pass(text, 0, BYTES) != (both ? BYTES : 0)) {
          throw new AssertionError(first + ", " + second);
        }
      }
    }
  }

  @Test
  void onlyWholeBlocksWithinTheRangeArePassed() {
    for (int from = 0; from <= 9; from++) {
      for (int length : new int[] {0, 1, BYTES - 1, BYTES, BYTES + 1, 3 * BYTES - 1, 3 * BYTES}) {
        byte[] text = new byte[from + length + 9];
        Arrays.fill(text, (byte) '"');
        System.arraycopy(text(length), 0, text, from, length);
        int whole = from + length / BYTES * BYTES;
        assertThat(Base64Blocks.pass(text, from, from + length)).isEqualTo(whole);
        assertThat(Base64Blocks.pass(text, from, text.length)).isEqualTo(whole);
      }
    }
  }

  @Test
  void aByteAnywhereInAnImageOrATextIsHeldToTheSameRules() {
    String url = "data:image/png;base64,";
    byte[] image = Bodies.bytes(Bodies.parts(part("image_url", "{'url':'" + url + "DATA'}")));
    byte[] text = Bodies.bytes(Bodies.parts(part("text", "'DATA'")));
    byte[] data = text(3 * BYTES);
    for (int at = 0; at < data.length; at++) {
      byte kept = data[at];
      boolean edge = at < 4 || at > data.length - 4 || Math.floorMod(at + 150, BYTES) < 220;
      for (int b = edge ? 0 : '-'; b < (edge ? 256 : '.'); b++) {
        data[at] = (byte) b;
        inImage(with(image, data), at, data);
        inText(with(text, data), at, data);
      }
      data[at] = kept;
    }
  }

  private static void inImage(byte[] body, int at, byte[] data) {
    int b = data[at] & 0xff;
    Inspection inspection = Bodies.inspect(body, Operation.CHAT_COMPLETIONS);
    if (!isJson(at, data)) {
      expect(inspection, Reason.JSON_MALFORMED, "body: ", at, b);
    } else if (ALPHABET.indexOf(b) >= 0 || (b == '=' && at == data.length - 1)) {
      expect(inspection, Reason.IMAGE, null, at, b);
    } else {
      String place = b == '\\' ? "" : b == '=' ? ": data after" : " at character " + at + " of";
      expect(inspection, Reason.IMAGE, "not base64" + place, at, b);
    }
  }

  private static void inText(byte[] body, int at, byte[] data) {
    Inspection inspection = Bodies.inspect(body, Operation.CHAT_COMPLETIONS);
    expect(inspection, Reason.JSON_MALFORMED, isJson(at, data) ? null : "body: ", at, data[at]);
  }

  private static void expect(
      Inspection inspection, Reason reason, @Nullable String fault, int at, int b) {
    boolean right =
        fault == null
            ? inspection instanceof RequestFacts
            : inspection instanceof Refusal refusal && isSo(refusal.failure(), reason, fault);
    if (!right) {
      throw new AssertionError("0x" + Integer.toHexString(b) + " at " + at + ": " + inspection);
    }
  }

  private static boolean isSo(Failure failure, Reason reason, String fault) {
    return failure.reason() == reason && failure.message().contains(fault);
  }

  /** Whether this byte may stand in a JSON string, where all others are of the alphabet. */
  private static boolean isJson(int at, byte[] data) {
    byte b = data[at];
    if (b == '\\') {
      return at + 1 < data.length && "bfnrt/".indexOf(data[at + 1]) >= 0;
    }
    return b >= ' ' && b != '"';
  }

  private static String part(String type, String value) {
    return "{'type':'" + type + "','" + type + "':" + value + "}";
  }

  private static byte[] with(byte[] body, byte[] data) {
    String[] around = new String(body, US_ASCII).split("DATA", -1);
    return Bodies.bytes(around[0], data, around[1]);
  }

  /** All of the alphabet, over and over. */
  private static byte[] text(int length) {
    return ALPHABET.repeat(length / 64 + 1).substring(0, length).getBytes(US_ASCII);
  }
}
