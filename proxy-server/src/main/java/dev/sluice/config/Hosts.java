package dev.sluice.config;

import io.netty.util.NetUtil;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Rules over the host and the port of an address. */
final class Hosts {
  private static final int MAX_HOST_CHARACTERS = 253;
  private static final int MAX_PORT = 65_535;
  private static final Pattern PORT = Pattern.compile("0|[1-9][0-9]{0,4}");
  private static final Pattern LABELS =
      Pattern.compile(
          "[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\\.[A-Za-z0-9_-]{1,63})*\\.?");
  private static final Pattern NUMBERS_ONLY = Pattern.compile("[0-9.]+");

  private Hosts() {}

  /** The host name, IPv4 address, or IPv6 address in brackets, without them; null where none. */
  static @Nullable String unbracketed(String text) {
    if (text.startsWith("[") && text.endsWith("]")) {
      String address = text.substring(1, text.length() - 1);
      return NetUtil.isValidIpV6Address(address) ? address : null;
    }
    if (NUMBERS_ONLY.matcher(text).matches()) {
      return NetUtil.isValidIpV4Address(text) ? text : null;
    }
    return text.length() <= MAX_HOST_CHARACTERS && LABELS.matcher(text).matches() ? text : null;
  }

  /** The port, 0 to 65535; -1 where it is none. */
  static int port(String text) {
    if (!PORT.matcher(text).matches()) {
      return -1;
    }
    int port = Integer.parseInt(text);
    return port <= MAX_PORT ? port : -1;
  }
}
