package dev.sluice.keys;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sluice.access.KeyHash;
import dev.sluice.yaml.Fault;
import dev.sluice.yaml.Reading;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Keys files for tests. */
final class KeysText {
  static final Path FILE = Path.of("keys.yaml");
  static final Set<String> PLANS = Set.of("free", "pro");
  static final KeyHash ONE = KeyHash.of("sk-one".getBytes(UTF_8));
  static final KeyHash TWO = KeyHash.of("sk-two".getBytes(UTF_8));

  /** Two subscriptions, two keys; line 7 is the second key's hash. */
  static final String WHOLE =
      """
      subscriptions:
        acme: {plan: pro, active: true}
        zeta: {plan: free}
      keys:
        - {name: acme-prod, sha256: "%s", subscription: acme}
        - name: zeta-test
          sha256: "%s"
          subscription: zeta
          expires: 2027-01-31
          revoked: false
      """
          .formatted(ONE.toHex(), TWO.toHex());

  private KeysText() {}

  static KeysSnapshot good(String text) {
    return good(text, PLANS);
  }

  static KeysSnapshot good(String text, Set<String> plans) {
    Reading<KeysSnapshot> reading = KeysFile.parse(FILE, text.getBytes(UTF_8), plans);
    if (reading instanceof Reading.Good<KeysSnapshot> good) {
      return good.value();
    }
    throw new AssertionError(reading);
  }

  static List<String> faults(byte[] contents) {
    Reading<KeysSnapshot> reading = KeysFile.parse(FILE, contents, PLANS);
    return reading instanceof Reading.Faulty<KeysSnapshot> faulty
        ? faulty.faults().stream().map(Fault::toString).toList()
        : List.of();
  }
}
