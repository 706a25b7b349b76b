/** Event boundaries and chunk framing in a byte stream, without copying. */
@NullMarked
package dev.sluice.sse;

import org.jspecify.annotations.NullMarked;
