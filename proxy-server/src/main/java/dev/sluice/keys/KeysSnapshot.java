package dev.sluice.keys;

import dev.sluice.access.Key;
import dev.sluice.access.KeyHash;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All keys of one good version of the keys file. Immutable. */
public final class KeysSnapshot {
  private final Map<KeyHash, Key> keys;
  private final int subscriptions;
  private final KeyHash contentHash;

  KeysSnapshot(Map<KeyHash, Key> keys, int subscriptions, KeyHash contentHash) {
    this.keys = Map.copyOf(keys);
    this.subscriptions = subscriptions;
    this.contentHash = contentHash;
  }

  /** How many keys there are, revoked and expired ones too. */
  public int keyCount() {
    return keys.size();
  }

  /** How many subscriptions there are, inactive ones too. */
  public int subscriptionCount() {
    return subscriptions;
  }

  /** The key with this hash; null where there is none. */
  @Nullable Key find(KeyHash hash) {
    return keys.get(hash);
  }

  /** The SHA-256 of the file's bytes. */
  KeyHash contentHash() {
    return contentHash;
  }
}
