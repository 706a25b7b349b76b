/**
 * The configuration file: read once at the start, into the records of the core. Every fault is
 * reported with its place.
 */
@NullMarked
package dev.sluice.config;

import org.jspecify.annotations.NullMarked;
