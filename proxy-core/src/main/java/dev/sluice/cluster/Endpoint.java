package dev.sluice.cluster;

import org.jspecify.annotations.Nullable;

/**
 * One upstream address of a model.
 *
 * @param host the host name or address to connect to, without brackets
 * @param port the port to connect to
 * @param tls whether to speak TLS, verifying certificate and host name
 * @param basePath what stands before an operation's path: empty, or {@code /…} without a slash at
 *     its end
 * @param credential what to send as the upstream's bearer key; null for none
 * @param weight its share of the exchanges beside that of the model's other endpoints; at least 1
 */
public record Endpoint(
    String host, int port, boolean tls, String basePath, @Nullable String credential, int weight) {

  /** An endpoint of weight 1. */
  public Endpoint(
      String host, int port, boolean tls, String basePath, @Nullable String credential) {
    this(host, port, tls, basePath, credential, 1);
  }

  /** Refuses a port, a base path or a weight that cannot be. */
  public Endpoint {
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port + " (expected: 1 to 65535)");
    }
    if (!basePath.isEmpty() && (basePath.charAt(0) != '/' || basePath.endsWith("/"))) {
      throw new IllegalArgumentException(
          "basePath: " + basePath + " (expected: empty, or /… without a slash at its end)");
    }
    if (weight < 1) {
      throw new IllegalArgumentException("weight: " + weight + " (expected: >= 1)");
    }
  }

  /**
   * {@code host:port} as an HTTP authority; IPv6 addresses in brackets; a default port left out.
   */
  public String authority() {
    String name = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    return port == (tls ? 443 : 80) ? name : name + ":" + port;
  }

  /** The same endpoint with another weight. */
  public Endpoint withWeight(int other) {
    return new Endpoint(host, port, tls, basePath, credential, other);
  }

  /** Names the endpoint in logs: scheme and authority, no credential. */
  @Override
  public String toString() {
    return (tls ? "https://" : "http://") + authority() + basePath;
  }
}
