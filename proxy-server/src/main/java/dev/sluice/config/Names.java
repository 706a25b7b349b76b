package dev.sluice.config;

import dev.sluice.exchange.ExchangeSummary;
import dev.sluice.yaml.Printable;
import java.util.regex.Pattern;

/** What plans, subscriptions, keys and models may be called. */
public final class Names {
  /** The rule that {@link #isName} holds. */
  public static final String NAME_RULE =
      "1 to 128 printable characters, no white space at either end";

  static final String MODEL_RULE =
      "1 to 256 visible ASCII characters, no quotes, no backslash, not * and not unknown";

  static final String UPSTREAM_MODEL_RULE =
      "1 to 256 visible ASCII characters, no quotes, no backslash";

  /** Stands in metrics for what is not configured, so nothing that is configured is called so. */
  static final String RESERVED = ExchangeSummary.UNKNOWN;

  static final String EVERY_MODEL = "*";

  private static final int MAX_NAME_CHARACTERS = 128;
  private static final Pattern MODEL = Pattern.compile("[!-~&&[^\"'`\\\\]]{1,256}");

  private Names() {}

  /** Whether a plan, a subscription or a key may be called so. */
  public static boolean isName(String name) {
    return !name.isEmpty()
        && name.length() <= MAX_NAME_CHARACTERS
        && name.strip().length() == name.length()
        && name.codePoints().allMatch(Printable::isPrintable);
  }

  static boolean isModelId(String id) {
    return isUpstreamModel(id) && !id.equals(EVERY_MODEL) && !id.equals(RESERVED);
  }

  static boolean isUpstreamModel(String name) {
    return MODEL.matcher(name).matches();
  }
}
