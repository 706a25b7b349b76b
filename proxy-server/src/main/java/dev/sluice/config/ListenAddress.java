package dev.sluice.config;

import org.jspecify.annotations.Nullable;

/**
 * An address to listen on.
 *
 * @param host a host name or address, without brackets
 * @param port the port; 0 for any that is free
 */
public record ListenAddress(String host, int port) {

  /** {@code host:port}; IPv6 addresses in brackets. */
  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }

  /** The address in {@code host:port}; null where it is none. */
  static @Nullable ListenAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      return null;
    }
    String host = Hosts.unbracketed(text.substring(0, colon));
    int port = Hosts.port(text.substring(colon + 1));
    return host == null || port < 0 ? null : new ListenAddress(host, port);
  }
}
