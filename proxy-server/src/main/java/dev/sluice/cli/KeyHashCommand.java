package dev.sluice.cli;

import dev.sluice.access.BearerToken;
import dev.sluice.access.KeyHash;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sluice key hash}. */
@Command(
    name = "hash",
    description = "Reads a key from standard input and prints its hash for the keys file.")
final class KeyHashCommand implements Callable<Integer> {
  private static final int MAX_KEY_BYTES = BearerToken.MAX_LENGTH;

  /** What a bearer token may be made of: RFC 6750, section 2.1. */
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

  private final InputStream in;

  @Spec private CommandSpec spec;

  KeyHashCommand(InputStream in) {
    this.in = in;
  }

  @Override
  public Integer call() throws IOException {
    byte[] bytes = in.readNBytes(MAX_KEY_BYTES + 3);
    // One character a byte, so that a byte outside ASCII is seen as such.
    String key = new String(bytes, StandardCharsets.ISO_8859_1).replaceFirst("\r?\n\\z", "");
    String fault = fault(key);
    if (fault != null) {
      spec.commandLine().getErr().println("standard input: " + fault);
      return ExitCode.USAGE;
    }
    String hash = KeyHash.of(key.getBytes(StandardCharsets.US_ASCII)).toHex();
    spec.commandLine().getOut().println(hash);
    return ExitCode.OK;
  }

  /** What is wrong with a key, without a word of it; null where nothing is. */
  private static @Nullable String fault(String key) {
    if (key.isEmpty()) {
      return "empty (expected: one key)";
    }
    if (key.length() > MAX_KEY_BYTES) {
      return "more than " + MAX_KEY_BYTES + " bytes (expected: one key)";
    }
    if (key.indexOf('\n') >= 0 || key.indexOf('\r') >= 0) {
      return "several lines (expected: one key)";
    }
    return TOKEN.matcher(key).matches()
        ? null
        : "a character that no bearer key has (expected: letters, digits, . _ ~ + / -, = at the end)";
  }
}
