package dev.sluice.yaml;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds the name that was probably meant. */
final class Nearest {
  private static final int MAX_CHARACTERS = 64;

  private Nearest() {}

  /**
   * The known name with the fewest edits from {@code found}, where a third of its characters or
   * fewer differ; case, and {@code _} for {@code -}, count for nothing.
   */
  static Optional<String> to(String found, Collection<String> known) {
    String wanted = normal(found);
    @Nullable String nearest = null;
    int fewest = Math.max(1, wanted.length() / 3) + 1;
    for (String name : known) {
      String candidate = normal(name);
      if (Math.abs(candidate.length() - wanted.length()) < fewest
          && wanted.length() <= MAX_CHARACTERS) {
        int edits = edits(wanted, candidate);
        if (edits < fewest) {
          fewest = edits;
          nearest = name;
        }
      }
    }
    return Optional.ofNullable(nearest);
  }

  private static String normal(String name) {
    return name.toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Optimal string alignment: insertions, deletions, replacements, swapped neighbours. */
  private static int edits(String a, String b) {
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          cost[i][j] = i + j;
          continue;
        }
        int replaced = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        cost[i][j] = Math.min(replaced, 1 + Math.min(cost[i - 1][j], cost[i][j - 1]));
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          cost[i][j] = Math.min(cost[i][j], 1 + cost[i - 2][j - 2]);
        }
      }
    }
    return cost[a.length()][b.length()];
  }
}
