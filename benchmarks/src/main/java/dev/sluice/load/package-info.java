/**
 * An open-loop load generator and the upstream that it measures against: requests come at their
 * times whether or not earlier ones were answered, and latency counts from those times.
 */
@NullMarked
package dev.sluice.load;

import org.jspecify.annotations.NullMarked;
