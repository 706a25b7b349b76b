package dev.sluice.keys;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Subscription;
import dev.sluice.yaml.Reading;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a keys file comes to, and each kind of fault of one, with its line. */
final class KeysFileTest {
  @TempDir private Path directory;

  @Test
  void aKeyIsFoundByItsHash() {
    KeysSnapshot snapshot = KeysText.good(KeysText.WHOLE);
    assertThat(snapshot.find(KeysText.ONE))
        .isEqualTo(new Key("acme-prod", new Subscription("acme", "pro", true), null, false));
    assertThat(snapshot.find(KeysText.TWO))
        .isEqualTo(
            new Key(
                "zeta-test",
                new Subscription("zeta", "free", true),
                Instant.parse("2027-02-01T00:00:00Z"),
                false));
    assertThat(snapshot.find(KeyHash.of("sk-three".getBytes(UTF_8)))).isNull();
    assertThat(snapshot.keyCount()).isEqualTo(2);
    assertThat(snapshot.subscriptionCount()).isEqualTo(2);
  }

  @Test
  void aDirectoryOfAFileAnswersAtOnce() {
    FileKeyDirectory keys = new FileKeyDirectory(KeysText.good(KeysText.WHOLE));
    assertThat(keys.find(KeysText.ONE).toCompletableFuture())
        .isCompletedWithValueMatching(key -> key.orElseThrow().name().equals("acme-prod"));
    assertThat(keys.find(KeyHash.of(new byte[0])).toCompletableFuture())
        .isCompletedWithValueMatching(key -> key.isEmpty());
  }

  @Test
  void revokedKeysAndInactiveSubscriptionsAreKnownAsSuch() {
    KeysSnapshot snapshot =
        KeysText.good(
            KeysText.WHOLE
                .replace("revoked: false", "revoked: true")
                .replace("{plan: free}", "{plan: free, active: false}"));
    Key key = snapshot.find(KeysText.TWO);
    assertThat(key)
        .isEqualTo(
            new Key(
                "zeta-test",
                new Subscription("zeta", "free", false),
                Instant.parse("2027-02-01T00:00:00Z"),
                true));
  }

  @ParameterizedTest
  @CsvSource({
    "2027-01-31, 2027-02-01T00:00:00Z",
    "2027-12-31, 2028-01-01T00:00:00Z",
    "2028-02-29, 2028-03-01T00:00:00Z",
    "2027-01-31T12:30:00Z, 2027-01-31T12:30:00Z",
    "2027-01-31T12:30:00.250+02:00, 2027-01-31T10:30:00.250Z"
  })
  void aKeyExpiresAfterItsDayOrAtItsInstant(String text, Instant refusedFrom) {
    Key key = KeysText.good(KeysText.WHOLE.replace("2027-01-31", text)).find(KeysText.TWO);
    assertThat(key).isNotNull().extracting(Key::expires).isEqualTo(refusedFrom);
  }

  @Test
  void aHashMayBeInUpperCaseAndUnquoted() {
    String upper = KeysText.TWO.toHex().toUpperCase(Locale.ROOT);
    String text = KeysText.WHOLE.replace('"' + KeysText.TWO.toHex() + '"', upper);
    assertThat(KeysText.good(text).find(KeysText.TWO)).isNotNull();
  }

  @Test
  void noKeysAtAllCanBeGiven() {
    assertThat(KeysText.good("subscriptions: {}\nkeys: []\n").keyCount()).isZero();
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
      acme: {plan: pro, active: true} | acme: {plan: por} | keys.yaml:2: subscriptions.acme.plan: por (expected: one of free, pro; did you mean pro?)
      acme: {plan: pro, active: true} | acme: {active: true} | keys.yaml:2: subscriptions.acme.plan: missing (expected: the name of a plan)
      acme: {plan: pro, active: true} | acme: pro | keys.yaml:2: subscriptions.acme: text (expected: a map with plan, active)
      acme: {plan: pro, active: true} | acme: {plan: pro, active: yes} | keys.yaml:2: subscriptions.acme.active: yes (expected: true or false)
      acme: {plan: pro, active: true} | acme: {plan: pro, aktive: true} | keys.yaml:2: subscriptions.acme.aktive: unknown name (expected: one of plan, active; did you mean active?)
      zeta: {plan: free} | acme: {plan: free} | keys.yaml:3: acme: stands twice (expected: once; it is on line 2 too)
      name: acme-prod | name: "" | keys.yaml:5: keys[0].name: "" (expected: 1 to 128 printable characters, no white space at either end)
      name: acme-prod | name: "a\\tb" | keys.yaml:5: keys[0].name: "a\\u0009b" (expected: 1 to 128 printable characters, no white space at either end)
      name: acme-prod | nam: acme-prod | keys.yaml:5: keys[0].nam: unknown name (expected: one of name, sha256, subscription, expires, revoked; did you mean name?)
      name: zeta-test | name: acme-prod | keys.yaml:6: keys[1].name: acme-prod (expected: a name that no other key has)
      subscription: zeta | subscription: zetta | keys.yaml:8: keys[1].subscription: zetta (expected: one of acme, zeta; did you mean zeta?)
      subscription: zeta | # | keys.yaml:6: keys[1].subscription: missing (expected: the name of a subscription)
      expires: 2027-01-31 | expires: 2027-02-29 | keys.yaml:9: keys[1].expires: 2027-02-29 (expected: a date, as in 2027-01-31, through whose end in UTC the key is good; or an instant, as in 2027-01-31T12:00:00Z)
      expires: 2027-01-31 | expires: 31.1.2027 | keys.yaml:9: keys[1].expires: 31.1.2027 (expected: a date, as in 2027-01-31, through whose end in UTC the key is good; or an instant, as in 2027-01-31T12:00:00Z)
      expires: 2027-01-31 | expires: 2027-01-31T12:00:00 | keys.yaml:9: keys[1].expires: 2027-01-31T12:00:00 (expected: a date, as in 2027-01-31, through whose end in UTC the key is good; or an instant, as in 2027-01-31T12:00:00Z)
      expires: 2027-01-31 | expires: | keys.yaml:9: keys[1].expires: nothing (expected: a date, as in 2027-01-31, through whose end in UTC the key is good; or an instant, as in 2027-01-31T12:00:00Z)
      revoked: false | revoked: "false" | keys.yaml:10: keys[1].revoked: "false" (expected: true or false)
      revoked: false | revoked: 0 | keys.yaml:10: keys[1].revoked: 0 (expected: true or false)
      """)
  void aChangedLineIsAFault(String line, String changed, String expected) {
    assertThat(KeysText.WHOLE).contains(line);
    List<String> faults = KeysText.faults(KeysText.WHOLE.replace(line, changed).getBytes(UTF_8));
    assertThat(faults).contains(expected);
    assertThat(faults)
        .filteredOn(fault -> !fault.equals(expected))
        .allMatch(
            fault ->
                fault.contains(": missing ")
                    || fault.contains("did you mean")
                    || fault.contains("(expected: one of acme)"));
  }

  @Test
  void aHashOfTwoKeysIsAFault() {
    String text = KeysText.WHOLE.replace(KeysText.TWO.toHex(), KeysText.ONE.toHex());
    assertThat(KeysText.faults(text.getBytes(UTF_8)))
        .containsExactly(
            "keys.yaml:7: keys[1].sha256: the hash of the key acme-prod too"
                + " (expected: a hash that no other key has)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"sk-live-1234567890", "", "0123", "zz"})
  void aKeyInPlaceOfItsHashIsAFaultThatDoesNotSayIt(String key) {
    String text = KeysText.WHOLE.replace(KeysText.TWO.toHex(), key);
    assertThat(KeysText.faults(text.getBytes(UTF_8)))
        .containsExactly(
            "keys.yaml:7: keys[1].sha256: text of "
                + key.length()
                + " characters (expected: 64 hexadecimal digits, as \"key hash\" prints them;"
                + " never the key itself)");
  }

  @Test
  void aHashWithOneBadDigitIsAFault() {
    String text = KeysText.WHOLE.replace(KeysText.TWO.toHex(), "g" + "0".repeat(63));
    assertThat(KeysText.faults(text.getBytes(UTF_8)))
        .singleElement()
        .asString()
        .startsWith("keys.yaml:7: keys[1].sha256: text of 64 characters");
  }

  @Test
  void bothNamesAreRequired() {
    assertThat(KeysText.faults("subscriptions: {}\n".getBytes(UTF_8)))
        .containsExactly(
            "keys.yaml:1: keys: missing (expected: a list of keys, each with name, sha256 and"
                + " subscription; [] for none)");
    assertThat(KeysText.faults("keys: []\n".getBytes(UTF_8)))
        .containsExactly(
            "keys.yaml:1: subscriptions: missing (expected: a map from names of subscriptions to"
                + " their plans; {} for none)");
  }

  @Test
  void plansAreNotCheckedWhereNoneIsKnown() throws Exception {
    Path file = Files.writeString(directory.resolve("keys.yaml"), KeysText.WHOLE);
    assertThat(KeysFile.read(file, Set.of())).isInstanceOf(Reading.Good.class);
    assertThat(KeysFile.read(file, Set.of("other"))).isInstanceOf(Reading.Faulty.class);
  }

  @Test
  void aFileThatIsNotThereIsAFault() {
    assertThat(KeysFile.read(directory.resolve("none.yaml"), KeysText.PLANS))
        .isInstanceOf(Reading.Faulty.class);
  }

  @Test
  void thousandsOfFaultsAreToldAtOnce() {
    StringBuilder text = new StringBuilder("subscriptions:\n");
    for (int i = 0; i < 2_000; i++) {
      text.append("  subscription-").append(i).append(": {plan: por}\n");
    }
    text.append("keys:\n");
    for (int i = 0; i < 2_000; i++) {
      text.append("  - {name: k").append(i).append(", sha256: x, subscription: nobody}\n");
    }
    assertThat(KeysText.faults(text.toString().getBytes(UTF_8))).hasSize(6_000);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aFileCutOffAnywhereIsRefusedOrHasTheKeysBeforeTheCut(int seed) {
    Random random = new Random(seed);
    byte[] whole = KeysText.WHOLE.getBytes(UTF_8);
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      Reading<KeysSnapshot> reading = KeysFile.parse(KeysText.FILE, cut, KeysText.PLANS);
      if (reading instanceof Reading.Good<KeysSnapshot> good) {
        assertThat(good.value().find(KeysText.ONE)).isNotNull();
      }
      if (length > 0) {
        cut[random.nextInt(length)] = (byte) random.nextInt(256);
        KeysFile.parse(KeysText.FILE, cut, KeysText.PLANS);
      }
    }
  }
}
