/**
 * What can go wrong, as data: a {@link dev.sluice.error.Reason} carries status, type, side and
 * whether another attempt may help; a {@link dev.sluice.error.Failure} adds the words for one
 * exchange. The answer, the log line, the metric label and the retry rule all derive from these.
 */
@NullMarked
package dev.sluice.error;

import org.jspecify.annotations.NullMarked;
