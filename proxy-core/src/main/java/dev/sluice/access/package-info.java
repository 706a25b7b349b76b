/**
 * Who may call: bearer keys, the subscriptions that hold them, the plans that those bought; the
 * {@link dev.sluice.access.KeyDirectory} that knows the keys and the cache before it.
 */
@NullMarked
package dev.sluice.access;

import org.jspecify.annotations.NullMarked;
