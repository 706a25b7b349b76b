/** Meters, as one documented enum, and the access-log line; both from an exchange's summary. */
@NullMarked
package dev.sluice.telemetry;

import org.jspecify.annotations.NullMarked;
