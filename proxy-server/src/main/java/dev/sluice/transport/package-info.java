/**
 * How connections are driven: which of Netty's transports this machine has, and what goes with it.
 */
@NullMarked
package dev.sluice.transport;

import org.jspecify.annotations.NullMarked;
