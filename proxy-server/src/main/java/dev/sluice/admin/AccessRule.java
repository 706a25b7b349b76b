package dev.sluice.admin;

import dev.sluice.page.Reply;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who may change something: without a token whoever connects from this machine, with one whoever
 * sends it, from anywhere. Of web pages only the operator's page may, not any other that an
 * operator has open: browsers say of a request where it comes from.
 */
final class AccessRule {
  /*
   * A browser sends Origin with every POST, and the page's own is the Host it was asked for. That
   * alone is not enough: another's page can have its name lead to this machine, and is then its own
   * origin here. A name of its own is what it needs for that, so without a token the Host must be an
   * address or localhost; with one, that page would need the token.
   */
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
    String expected = token.get();
    if (isOtherPage(headers, expected == null)) {
      return Reply.refused(
          403, "peer: a web page (expected: the operator's page, or an operator's own client)");
    }
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

  private static boolean isOtherPage(HttpHeaders headers, boolean byAddress) {
    List<String> origins = headers.getAll(HttpHeaderNames.ORIGIN);
    List<String> sites = headers.getAll(SEC_FETCH_SITE);
    if (origins.isEmpty()) {
      return sites.stream().anyMatch(site -> !site.equals("none"));
    }
    String host = headers.get(HttpHeaderNames.HOST, "");
    return origins.size() > 1
        || !(origins.get(0).equals("http://" + host) || origins.get(0).equals("https://" + host))
        || sites.stream().anyMatch(site -> !site.equals("same-origin"))
        || (byAddress && !isAddress(host));
  }

  /** Whether the host is no name that somebody else could have made. */
  private static boolean isAddress(String host) {
    int colon = host.lastIndexOf(':');
    String name = colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
    return name.equals("localhost")
        || NetUtil.isValidIpV4Address(name)
        || (name.startsWith("[")
            && name.endsWith("]")
            && NetUtil.isValidIpV6Address(name.substring(1, name.length() - 1)));
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
