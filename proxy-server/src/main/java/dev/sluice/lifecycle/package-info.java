/** The life of the process: start, warm-up, ready, drain, end. */
@NullMarked
package dev.sluice.lifecycle;

import org.jspecify.annotations.NullMarked;
