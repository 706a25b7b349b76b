/**
 * What the pages for people stand on: a small listener with bounds, the files in the jar, events
 * that keep a page live. Who serves them, {@code admin} and {@code status}, says what is on them.
 */
@NullMarked
package dev.sluice.page;

import org.jspecify.annotations.NullMarked;
