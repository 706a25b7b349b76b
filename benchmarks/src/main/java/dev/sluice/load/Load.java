package dev.sluice.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * What is asked of a proxy, and how often.
 *
 * @param perSecond requests a second
 * @param connections most connections at once; a request that finds none free waits, and its
 *     waiting counts
 * @param hold whether each connection asks once only, and is left open until the end
 * @param warmUpMillis from the first request to the window in which is measured
 * @param windowMillis length of that window
 * @param textBytes bytes of text in the request's body
 * @param imageBytes bytes of a base64 image in the request's body; 0 for none
 * @param keys how many keys call in turn
 * @param answer the answer that is asked for
 */
public record Load(
    double perSecond,
    int connections,
    boolean hold,
    int warmUpMillis,
    int windowMillis,
    int textBytes,
    int imageBytes,
    int keys,
    AskedAnswer answer) {

  private static final String KEY_PREFIX = "sk-load-";
  private static final int KEY_DIGITS = 12;
  private static final int HELD_PER_SECOND = 1_000;
  private static final double WARM_UP_PER_SECOND = 4_000;
  private static final double WARM_UP_BYTES_PER_SECOND = 500e6;

  /** Requests that are answered with a short document. */
  public static Load requests(double perSecond, int textBytes) {
    return new Load(
        perSecond, 2_000, false, 1_000, 5_000, textBytes, 0, 1, new AskedAnswer(0, 1, 256));
  }

  /** About so many streams at once, each begun anew when one has ended. */
  public static Load streams(int streams, AskedAnswer answer) {
    double seconds = answer.events() * answer.intervalMillis() / 1_000.0;
    return new Load(streams / seconds, 4 * streams, false, 2_000, 5_000, 200, 0, 1, answer);
  }

  /** So many streams, which are opened before the window and outlast it. */
  public static Load held(int streams, int intervalMillis, int bytes) {
    int warmUpMillis = 1_000 * streams / HELD_PER_SECOND + 1_000;
    return new Load(
        HELD_PER_SECOND,
        streams,
        true,
        warmUpMillis,
        5_000,
        200,
        0,
        1,
        new AskedAnswer(Integer.MAX_VALUE, intervalMillis, bytes));
  }

  /** The same with an image of this many base64 characters in each request. */
  public Load withImage(int bytes) {
    return with(perSecond, windowMillis, bytes / 4 * 4, keys, answer);
  }

  /** The same, answered so. */
  public Load answeredWith(AskedAnswer another) {
    return with(perSecond, windowMillis, imageBytes, keys, another);
  }

  /** The same by this many keys. */
  public Load byKeys(int number) {
    return with(perSecond, windowMillis, imageBytes, number, answer);
  }

  /** The same, measured for this long. */
  public Load measuredFor(int millis) {
    return with(perSecond, millis, imageBytes, keys, answer);
  }

  /**
   * The same, for this long, for a JVM that is still to compile what it meets: where answers are
   * short, at a rate at which it has soon seen enough of them.
   */
  public Load warmingUpFor(int millis) {
    double rate = perSecond;
    if (answer.events() <= 1) {
      double bodyBytes = textBytes + imageBytes;
      rate = Math.max(rate, Math.min(WARM_UP_PER_SECOND, WARM_UP_BYTES_PER_SECOND / bodyBytes));
    }
    return with(rate, millis, imageBytes, keys, answer);
  }

  private Load with(
      double newPerSecond,
      int newWindowMillis,
      int newImageBytes,
      int newKeys,
      AskedAnswer newAnswer) {
    return new Load(
        newPerSecond,
        connections,
        hold,
        warmUpMillis,
        newWindowMillis,
        textBytes,
        newImageBytes,
        newKeys,
        newAnswer);
  }

  /** The bearer key with this number. */
  public static String key(int number) {
    return KEY_PREFIX + digits(number);
  }

  private static String digits(int number) {
    return String.format(Locale.ROOT, "%0" + KEY_DIGITS + "d", number);
  }

  /** The bytes of one request, with the key of number 0; the caller releases them. */
  ByteBuf request() {
    StringBuilder body = new StringBuilder("{\"model\":\"bench\",\"stream\":" + answer.isStream());
    body.append(",\"messages\":[{\"role\":\"user\",\"content\":");
    String text = "\"" + "a".repeat(textBytes) + "\"";
    if (imageBytes == 0) {
      body.append(text);
    } else {
      body.append("[{\"type\":\"text\",\"text\":").append(text).append("},");
      body.append("{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,");
      body.append("iVBORw0K".repeat(imageBytes / 8 + 1), 0, imageBytes).append("\"}}]");
    }
    body.append("}]}");
    String head =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nUser-Agent: load\r\n"
            + ("Authorization: Bearer " + key(0) + "\r\n")
            + "Accept: application/json\r\nContent-Type: application/json\r\n"
            + (AskedAnswer.HEADER + ": " + answer.toHeader() + "\r\n")
            + ("Content-Length: " + body.length() + "\r\n\r\n");
    byte[] bytes = (head + body).getBytes(StandardCharsets.US_ASCII);
    return ByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
  }

  /** The bytes of the request with the key of this number; the caller releases them. */
  static ByteBuf signed(ByteBuf request, int keyAt, int key) {
    ByteBuf copy = request.copy();
    copy.setCharSequence(keyAt, key(key), StandardCharsets.US_ASCII);
    return copy;
  }

  /** Where the key stands in the bytes of a request. */
  static int keyAt(ByteBuf request) {
    return request.toString(StandardCharsets.US_ASCII).indexOf(KEY_PREFIX);
  }
}
