package dev.sluice.cli;

import dev.sluice.access.KeyHash;
import dev.sluice.config.Names;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice key new}. */
@Command(
    name = "new",
    description = "Prints a fresh key, once, and the entry to paste into the keys file.")
final class KeyNewCommand implements Runnable {
  /** 192 bits. */
  private static final int KEY_BYTES = 24;

  @Spec private CommandSpec spec;

  @Option(
      names = "--name",
      required = true,
      paramLabel = "NAME",
      description = "The key's name, for logs.")
  private String name;

  @Option(
      names = "--subscription",
      required = true,
      paramLabel = "NAME",
      description = "The subscription that holds the key.")
  private String subscription;

  @Override
  public void run() {
    requireName("--name", name);
    requireName("--subscription", subscription);
    String key = newKey();
    KeyHash hash = KeyHash.of(key.getBytes(StandardCharsets.US_ASCII));
    PrintWriter out = spec.commandLine().getOut();
    out.println("# The key. It is shown this once and stored nowhere.");
    out.println(key);
    out.println("# The entry to paste below \"keys:\" in the keys file.");
    out.printf(
        Locale.ROOT,
        "  - {name: %s, sha256: \"%s\", subscription: %s}%n",
        quoted(name),
        hash.toHex(),
        quoted(subscription));
    out.flush();
  }

  /** A fresh key: {@code sk-} and 192 random bits. */
  static String newKey() {
    byte[] random = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(random);
    return "sk-" + Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  private void requireName(String option, String value) {
    if (!Names.isName(value)) {
      throw new ParameterException(
          spec.commandLine(), option + ": not a name (expected: " + Names.NAME_RULE + ")");
    }
  }

  /** Printable text as a YAML scalar in double quotes. */
  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
