package dev.sluice.lifecycle;

import dev.sluice.access.KeyHash;
import dev.sluice.config.SluiceConfig;
import dev.sluice.keys.KeysSnapshot;

/**
 * The configuration file and the keys file that it names, both without a fault.
 *
 * @param contentHash the SHA-256 of the configuration file's bytes
 */
public record GoodFiles(SluiceConfig config, KeysSnapshot keys, KeyHash contentHash) {}
