package dev.sluice.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Which headers belong to one connection only and do not go on, RFC 9110 section 7.6.1. */
public final class ConnectionTokens {
  private static final Set<String> HOP_BY_HOP =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authentication-info",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private static final ConnectionTokens NONE = new ConnectionTokens(List.of());

  private final List<String> tokens;

  private ConnectionTokens(List<String> tokens) {
    this.tokens = tokens;
  }

  /** The tokens of all {@code Connection} headers of a head. */
  public static ConnectionTokens of(HttpHeaders headers) {
    if (!headers.contains(HttpHeaderNames.CONNECTION)) {
      return NONE;
    }
    List<String> tokens = new ArrayList<>(2);
    for (String value : headers.getAll(HttpHeaderNames.CONNECTION)) {
      for (String token : value.split(",", -1)) {
        tokens.add(token.trim().toLowerCase(Locale.ROOT));
      }
    }
    return new ConnectionTokens(tokens);
  }

  /** Whether the connection stays open after this message, RFC 9112 section 9.3. */
  public boolean keepsAlive(boolean http10) {
    return http10
        ? tokens.contains("keep-alive") && !tokens.contains("close")
        : !tokens.contains("close");
  }

  /**
   * Whether a header ends at this hop: by its nature, or because {@code Connection} names it.
   *
   * @param lowerCaseName the header's name in lower case
   */
  public boolean endsHere(String lowerCaseName) {
    return HOP_BY_HOP.contains(lowerCaseName) || tokens.contains(lowerCaseName);
  }
}
