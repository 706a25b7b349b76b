package dev.sluice.keys;

import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Subscription;
import dev.sluice.config.Names;
import dev.sluice.yaml.Fields;
import dev.sluice.yaml.Reading;
import dev.sluice.yaml.Value;
import dev.sluice.yaml.YamlFile;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the keys file: subscriptions with their plans, and the hashes of their keys. */
public final class KeysFile {
  private static final String SUBSCRIPTIONS_RULE =
      "a map from names of subscriptions to their plans; {} for none";
  private static final String KEYS_RULE =
      "a list of keys, each with name, sha256 and subscription; [] for none";
  private static final String HASH_RULE =
      "64 hexadecimal digits, as \"key hash\" prints them; never the key itself";
  private static final String EXPIRES_RULE =
      "a date, as in 2027-01-31, through whose end in UTC the key is good; or an instant, as in "
          + "2027-01-31T12:00:00Z";
  private static final Pattern HASH = Pattern.compile("[0-9A-Fa-f]{64}");
  private static final Pattern DATE = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");

  private final Set<String> planNames;
  private final Map<String, Subscription> subscriptions = new HashMap<>();
  private final Map<KeyHash, Key> keys = new HashMap<>();
  private final Set<String> keyNames = new HashSet<>();

  private KeysFile(Set<String> planNames) {
    this.planNames = planNames;
  }

  /**
   * Reads a keys file. Blocks; never throws for what is in the file.
   *
   * @param file the file
   * @param planNames the plans that a subscription may have; where there are none, as of a
   *     configuration that is refused for it, plans are not checked
   */
  public static Reading<KeysSnapshot> read(Path file, Set<String> planNames) {
    Reading<byte[]> contents = YamlFile.contents(file);
    if (contents instanceof Reading.Good<byte[]> good) {
      return parse(file, good.value(), planNames);
    }
    return new Reading.Faulty<>(((Reading.Faulty<byte[]>) contents).faults());
  }

  /** Reads a keys file whose bytes are at hand. */
  static Reading<KeysSnapshot> parse(Path file, byte[] contents, Set<String> planNames) {
    return YamlFile.parse(
        file, contents, root -> new KeysFile(planNames).snapshot(root, KeyHash.of(contents)));
  }

  private KeysSnapshot snapshot(Value root, KeyHash contentHash) {
    Fields fields = root.fields("subscriptions", "keys");
    // A file that is cut off may be valid YAML without its keys: so both names are required.
    for (Value.Entry entry :
        fields.required("subscriptions", SUBSCRIPTIONS_RULE).entries(SUBSCRIPTIONS_RULE)) {
      subscription(entry);
    }
    List<String> names = subscriptions.keySet().stream().sorted().toList();
    for (Value item : fields.required("keys", KEYS_RULE).items(KEYS_RULE)) {
      key(item, names);
    }
    return new KeysSnapshot(keys, subscriptions.size(), contentHash);
  }

  private void subscription(Value.Entry entry) {
    String name = entry.key().text(Names.NAME_RULE, Names::isName, "");
    Fields fields = entry.value().fields("plan", "active");
    Value planValue = fields.required("plan", "the name of a plan");
    String plan = planValue.text("the name of a plan", text -> true, "");
    if (planValue.isPresent() && !planNames.isEmpty() && !planNames.contains(plan)) {
      planValue.unknown(plan, planNames.stream().sorted().toList());
    }
    boolean active = fields.optional("active").flag(true);
    subscriptions.put(name, new Subscription(name, plan, active));
  }

  private void key(Value value, List<String> subscriptionNames) {
    Fields fields = value.fields("name", "sha256", "subscription", "expires", "revoked");
    Value nameValue = fields.required("name", Names.NAME_RULE);
    String name = nameValue.text(Names.NAME_RULE, Names::isName, "");
    if (!name.isEmpty() && !keyNames.add(name)) {
      nameValue.fault(name, "a name that no other key has");
    }
    Value holderValue = fields.required("subscription", "the name of a subscription");
    String holder = holderValue.text("the name of a subscription", text -> true, "");
    Subscription subscription = subscriptions.get(holder);
    if (subscription == null) {
      if (!holder.isEmpty()) {
        holderValue.unknown(holder, subscriptionNames);
      }
      subscription = new Subscription(holder, "", false);
    }
    @Nullable Instant expires =
        fields
            .optional("expires")
            .scalar(
                EXPIRES_RULE,
                text -> {
                  Instant instant = expiry(text);
                  return instant == null ? null : Optional.of(instant);
                },
                Optional.<Instant>empty())
            .orElse(null);
    boolean revoked = fields.optional("revoked").flag(false);
    Value hashValue = fields.required("sha256", HASH_RULE);
    String hex = hashValue.text(HASH_RULE, text -> true, "");
    if (HASH.matcher(hex).matches()) {
      Key before =
          keys.putIfAbsent(KeyHash.ofHex(hex), new Key(name, subscription, expires, revoked));
      if (before != null) {
        hashValue.fault(
            "the hash of the key " + before.name() + " too", "a hash that no other key has");
      }
    } else {
      // Not quoted: it may be the key itself, in the wrong place.
      hashValue.fault("text of " + hex.length() + " characters", HASH_RULE);
    }
  }

  /** The first instant at which a key is refused; null where the text is none. */
  private static @Nullable Instant expiry(String text) {
    try {
      return DATE.matcher(text).matches()
          ? LocalDate.parse(text).plusDays(1).atStartOfDay(ZoneOffset.UTC).toInstant()
          : OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      return null;
    }
  }
}
