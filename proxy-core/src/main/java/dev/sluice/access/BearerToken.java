package dev.sluice.access;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Reads the bearer key of a request, RFC 6750 section 2.1: only from {@code Authorization}. */
public final class BearerToken {
  /** Most characters of a key. */
  public static final int MAX_LENGTH = 512;

  private static final String SCHEME = "bearer";

  /** What the headers hold. */
  public enum Kind {
    /** One well-formed key. */
    PRESENT,
    /** No {@code Authorization} header. */
    MISSING,
    /** Two headers, another scheme, or no key after it that could be one. */
    MALFORMED
  }

  /**
   * What was read.
   *
   * @param kind whether there is a key
   * @param hash the key's hash where there is one
   */
  public record Parsed(Kind kind, KeyHash hash) {}

  private static final KeyHash NO_HASH = new KeyHash(0, 0, 0, 0);
  private static final Parsed MISSING = new Parsed(Kind.MISSING, NO_HASH);
  private static final Parsed MALFORMED = new Parsed(Kind.MALFORMED, NO_HASH);

  private BearerToken() {}

  /** Reads the key of these headers; its text is hashed and forgotten. */
  public static Parsed parse(HttpHeaders headers) {
    List<String> values = headers.getAll(HttpHeaderNames.AUTHORIZATION);
    if (values.isEmpty()) {
      return MISSING;
    }
    return values.size() == 1 ? parse(values.get(0)) : MALFORMED;
  }

  private static Parsed parse(String value) {
    if (!value.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return MALFORMED;
    }
    int start = SCHEME.length();
    while (start < value.length() && value.charAt(start) == ' ') {
      start++;
    }
    int length = value.length() - start;
    if (start == SCHEME.length() || length == 0 || length > MAX_LENGTH || !isToken(value, start)) {
      return MALFORMED;
    }
    byte[] key = value.substring(start).getBytes(StandardCharsets.ISO_8859_1);
    return new Parsed(Kind.PRESENT, KeyHash.of(key));
  }

  /** Whether it is {@code b64token}: letters, digits, {@code -._~+/}, then {@code =}. */
  private static boolean isToken(String value, int from) {
    int at = from;
    while (at < value.length() && isTokenCharacter(value.charAt(at))) {
      at++;
    }
    boolean begun = at > from;
    while (at < value.length() && value.charAt(at) == '=') {
      at++;
    }
    return begun && at == value.length();
  }

  private static boolean isTokenCharacter(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || "-._~+/".indexOf(c) >= 0;
  }
}
