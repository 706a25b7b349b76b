/**
 * Tools of the black-box tests: a client and an upstream that control every byte, and the process
 * under test. A <em>wire string</em> in this package has one character for each byte (ISO 8859-1).
 */
@NullMarked
package dev.sluice.testing;

import org.jspecify.annotations.NullMarked;
