/**
 * The status page: for everyone each model's availability now and over the last day, for a caller
 * with a key what that key may do. On an address and a loop of its own; nothing secret is on it.
 */
@NullMarked
package dev.sluice.status;

import org.jspecify.annotations.NullMarked;
