/**
 * One exchange from its head to the last byte of its answer: state, attempt, relay, flow control,
 * timeline, summary.
 */
@NullMarked
package dev.sluice.exchange;

import org.jspecify.annotations.NullMarked;
