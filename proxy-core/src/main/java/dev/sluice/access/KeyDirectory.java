package dev.sluice.access;

import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Knows the keys: a file, a database, an identity service. Called from event loops. */
public interface KeyDirectory {

  /**
   * Looks a key up by its hash.
   *
   * <p>Must not block: a directory that has to wait does so elsewhere. A stage that fails, or a
   * thrown exception, means that the directory cannot say; it is never remembered, and the caller
   * is answered 503. "No such key" is an empty value, and is remembered briefly.
   */
  CompletionStage<Optional<Key>> find(KeyHash hash);
}
