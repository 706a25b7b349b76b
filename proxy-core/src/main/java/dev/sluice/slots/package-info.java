/**
 * Lock-free counters of running streams, per plan and per key, and the lease that is given back
 * exactly once.
 */
@NullMarked
package dev.sluice.slots;

import org.jspecify.annotations.NullMarked;
