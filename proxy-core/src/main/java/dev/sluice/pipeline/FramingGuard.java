package dev.sluice.pipeline;

import dev.sluice.http.Authority;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Refuses heads that are well-formed line by line but mean nothing, or two things: a {@code Host}
 * that is missing, doubled, empty or not a host (RFC 9112 section 3.2), and a target whose form
 * does not fit its method (section 3.2.1 to 3.2.4). Such a connection is closed: who sent it may
 * have had other ideas of where the request ends, too.
 */
final class FramingGuard {
  private FramingGuard() {}

  /** The rule that the head breaks; null where it breaks none. */
  static @Nullable String broken(HttpRequest request) {
    List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
    if (hosts.size() > 1) {
      return "it has more than one Host";
    }
    if (hosts.isEmpty()) {
      // HTTP/1.0 knew no Host.
      if (!request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
        return "it has no Host";
      }
    } else if (!Authority.isValid(hosts.get(0))) {
      return "its Host is not a host";
    }
    return fits(request.method(), request.uri())
        ? null
        : "the form of its target does not fit its method";
  }

  private static boolean fits(HttpMethod method, String target) {
    if (method.equals(HttpMethod.CONNECT)) {
      return Authority.isValid(target);
    }
    if (target.equals("*")) {
      return method.equals(HttpMethod.OPTIONS);
    }
    return target.startsWith("/") || OriginForm.isAbsolute(target);
  }
}
