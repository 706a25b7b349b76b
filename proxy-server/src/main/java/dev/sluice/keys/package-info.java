/**
 * Directories of keys behind {@link dev.sluice.access.KeyDirectory}: the keys file, read whole,
 * watched, and replaced at once when a good new version is there.
 */
@NullMarked
package dev.sluice.keys;

import org.jspecify.annotations.NullMarked;
