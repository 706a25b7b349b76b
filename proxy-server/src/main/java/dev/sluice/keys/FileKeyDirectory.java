package dev.sluice.keys;

import dev.sluice.access.Key;
import dev.sluice.access.KeyDirectory;
import dev.sluice.access.KeyHash;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Knows the keys of the keys file's last good version, and answers at once. For all threads. */
public final class FileKeyDirectory implements KeyDirectory {
  private volatile KeysSnapshot snapshot;

  /** Knows these keys until a {@link KeysWatcher} replaces them. */
  public FileKeyDirectory(KeysSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  @Override
  public CompletionStage<Optional<Key>> find(KeyHash hash) {
    return CompletableFuture.completedFuture(Optional.ofNullable(snapshot.find(hash)));
  }

  /** The keys as they are known now. */
  public KeysSnapshot snapshot() {
    return snapshot;
  }

  void replace(KeysSnapshot next) {
    snapshot = next;
  }
}
