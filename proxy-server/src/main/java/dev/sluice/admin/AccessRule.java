package dev.sluice.admin;

import dev.sluice.page.Reply;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who may change something: without a token whoever connects from this machine, with one whoever
 * sends it, from anywhere. No web page may, not even one that an operator has open on this machine:
 * browsers say of a request where it comes from.
 */
final class AccessRule {
  private static final String SCHEME = "bearer ";
  private static final String SEC_FETCH_SITE = "sec-fetch-site";

  private final Supplier<@Nullable String> token;

  /**
   * @param token gives what operators must send now; null where only this machine's may
   */
  AccessRule(Supplier<@Nullable String> token) {
    this.token = token;
  }

  /** Why a request that would change something is refused; null where it is not. */
  @Nullable Reply refusal(HttpHeaders headers, SocketAddress peer) {
    if (headers.contains(HttpHeaderNames.ORIGIN)
        || headers.getAll(SEC_FETCH_SITE).stream().anyMatch(site -> !site.equals("none"))) {
      return Reply.refused(403, "peer: a web page (expected: an operator's own client)");
    }
    String expected = token.get();
    if (expected == null) {
      return isLoopback(peer)
          ? null
          : Reply.refused(
              403, "peer: not on this machine (expected: a loopback address, or admin-token-env)");
    }
    if (bears(headers.getAll(HttpHeaderNames.AUTHORIZATION), expected)) {
      return null;
    }
    return Reply.refused(401, "Authorization: not the token (expected: Bearer and the token)")
        .with("www-authenticate", "Bearer");
  }

  private static boolean isLoopback(SocketAddress peer) {
    return peer instanceof InetSocketAddress address
        && address.getAddress() != null
        && address.getAddress().isLoopbackAddress();
  }

  /** Takes as long for a token that is nearly right as for any other. */
  private static boolean bears(List<String> authorizations, String token) {
    if (authorizations.size() != 1
        || !authorizations.get(0).regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return false;
    }
    String presented = authorizations.get(0).substring(SCHEME.length()).strip();
    return MessageDigest.isEqual(
        token.getBytes(StandardCharsets.UTF_8), presented.getBytes(StandardCharsets.UTF_8));
  }
}
