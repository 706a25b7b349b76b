/**
 * What the tests of several packages need: bytes, readers of answers, and a guard against leaks.
 */
@NullMarked
package dev.sluice.testing;

import org.jspecify.annotations.NullMarked;
