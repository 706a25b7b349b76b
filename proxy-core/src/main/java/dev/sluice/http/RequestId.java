package dev.sluice.http;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/** Makes request ids: {@code req_} and 24 random characters. Safe for all threads. */
public final class RequestId {
  /** The header that an id is sent in, both ways. */
  public static final String HEADER = "x-request-id";

  private static final byte[] ALPHABET =
      "0123456789abcdefghjkmnpqrstvwxyz".getBytes(StandardCharsets.US_ASCII);

  private RequestId() {}

  /** A new id. */
  public static String next() {
    SplittableRandom random = RandomBits.ofThread();
    byte[] id = new byte[28];
    id[0] = 'r';
    id[1] = 'e';
    id[2] = 'q';
    id[3] = '_';
    int at = 4;
    for (int half = 0; half < 2; half++) {
      long bits = random.nextLong();
      for (int i = 0; i < 12; i++, bits >>>= 5) {
        id[at++] = ALPHABET[(int) bits & 31];
      }
    }
    return new String(id, StandardCharsets.ISO_8859_1);
  }
}
