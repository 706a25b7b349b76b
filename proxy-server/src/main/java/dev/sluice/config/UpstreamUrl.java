package dev.sluice.config;

import dev.sluice.cluster.Endpoint;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The {@code url} of an upstream, cut into its parts. Either {@code fault} is null or the parts are
 * placeholders.
 */
record UpstreamUrl(String host, int port, boolean tls, String basePath, @Nullable Fault fault) {

  /** What is wrong with a URL; {@code found} never holds its user information or query. */
  record Fault(String found, String expected) {}

  /** No URL at all. */
  static final UpstreamUrl ABSENT = new UpstreamUrl("invalid", 1, false, "", null);

  static final String RULE =
      "http or https, a host, an optional port and path, as in https://host:8000";

  private static final Pattern SHAPE =
      Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(/.*)?", Pattern.DOTALL);
  private static final Pattern SEGMENTS =
      Pattern.compile("(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)*");
  private static final Pattern DOT_SEGMENT = Pattern.compile("(?i).*/(\\.|%2e){1,2}(/.*)?");

  static UpstreamUrl parse(String url) {
    // First what may hold a secret, so that no later fault quotes one.
    if (url.indexOf('@') >= 0) {
      return faulty("has user information", "no user information; a key comes from api-key-env");
    }
    if (url.indexOf('?') >= 0 || url.indexOf('#') >= 0) {
      return faulty("has a query or a fragment", "no query and no fragment");
    }
    Matcher shape = SHAPE.matcher(url);
    if (!shape.matches()) {
      return faulty(url, RULE);
    }
    String scheme = shape.group(1).toLowerCase(Locale.ROOT);
    boolean tls = scheme.equals("https");
    if (!tls && !scheme.equals("http")) {
      return faulty(url, RULE);
    }
    String authority = shape.group(2);
    int colon = authority.lastIndexOf(':');
    // A colon inside the brackets of an IPv6 address is none before a port.
    boolean withPort = colon > authority.lastIndexOf(']');
    String host = Hosts.unbracketed(withPort ? authority.substring(0, colon) : authority);
    int port = withPort ? Hosts.port(authority.substring(colon + 1)) : tls ? 443 : 80;
    if (host == null || port < 1) {
      return faulty(
          url,
          "a host name, an IPv4 address or an IPv6 address in brackets; a port from 1 to 65535");
    }
    String path = shape.group(3) == null ? "" : shape.group(3);
    String basePath = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    if (!SEGMENTS.matcher(basePath).matches() || DOT_SEGMENT.matcher(basePath).matches()) {
      return faulty(url, "a path of segments, none empty, none . or ..");
    }
    if (basePath.equals("/v1") || basePath.endsWith("/v1")) {
      return faulty(
          url, "without /v1 at its end: an operation's path, which begins with it, is appended");
    }
    return new UpstreamUrl(host, port, tls, basePath, null);
  }

  /** The endpoint at this URL; called only where {@code fault} is null. */
  Endpoint endpoint(@Nullable String credential, int weight) {
    return new Endpoint(host, port, tls, basePath, credential, weight);
  }

  private static UpstreamUrl faulty(String found, String expected) {
    return new UpstreamUrl("invalid", 1, false, "", new Fault(found, expected));
  }
}
