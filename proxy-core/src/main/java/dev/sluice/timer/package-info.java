/**
 * Deadlines that cost nothing while they do not expire: one ticking task per event loop looks at
 * all of them.
 */
@NullMarked
package dev.sluice.timer;

import org.jspecify.annotations.NullMarked;
