package dev.sluice.exchange;

import dev.sluice.message.Operation;
import io.netty.handler.codec.http.HttpMethod;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The paths that are served. Paths are matched as they were sent: nothing is resolved or decoded on
 * the way, but for the id in {@code /v1/models/{id}}, once. Immutable.
 */
public final class RouteTable {
  /** The path of the model list. */
  public static final String MODELS = "/v1/models";

  private static final String MODEL_PREFIX = MODELS + "/";
  private static final String READ_METHODS = "GET, HEAD";
  private static final Route UNKNOWN = new Route.Unknown();
  private static final Route MODEL_LIST = new Route.ModelList();

  private record Paths(Route forwarded, Route wrongMethod) {}

  private final Map<String, Paths> operations = new HashMap<>();

  /** A table of these operations and the model list. */
  public RouteTable(Collection<Operation> operations) {
    for (Operation operation : operations) {
      this.operations.put(
          operation.path(),
          new Paths(
              new Route.Forwarded(operation), new Route.WrongMethod(operation.name(), "POST")));
    }
  }

  /**
   * Where a request leads.
   *
   * @param path the path as it was sent, without a query
   */
  public Route find(HttpMethod method, String path) {
    Paths paths = operations.get(path);
    if (paths != null) {
      return method.equals(HttpMethod.POST) ? paths.forwarded : paths.wrongMethod;
    }
    boolean reads = method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
    if (path.equals(MODELS)) {
      return reads ? MODEL_LIST : new Route.WrongMethod(MODEL_LIST.name(), READ_METHODS);
    }
    if (path.startsWith(MODEL_PREFIX)) {
      String id = decode(path, MODEL_PREFIX.length());
      if (id != null && !id.isEmpty()) {
        Route item = new Route.ModelItem(id);
        return reads ? item : new Route.WrongMethod(item.name(), READ_METHODS);
      }
    }
    return UNKNOWN;
  }

  /** Percent-decodes the rest of a path, RFC 3986 section 2.1; null where that makes no text. */
  private static @Nullable String decode(String path, int from) {
    if (path.indexOf('%', from) < 0) {
      return path.substring(from);
    }
    ByteBuffer bytes = ByteBuffer.allocate(path.length() - from);
    for (int i = from; i < path.length(); i++) {
      char c = path.charAt(i);
      if (c != '%') {
        bytes.put((byte) c);
        continue;
      }
      int high = hexDigit(path, i + 1);
      int low = hexDigit(path, i + 2);
      if (high < 0 || low < 0) {
        return null;
      }
      bytes.put((byte) (high << 4 | low));
      i += 2;
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static int hexDigit(String path, int at) {
    return at < path.length() ? Character.digit(path.charAt(at), 16) : -1;
  }
}
