/**
 * The Netty pipeline: how a connection's bytes become exchanges, one handler per rule of the
 * contract, in the contract's order. The reader starts at {@code EdgePipeline}.
 */
@NullMarked
package dev.sluice.pipeline;

import org.jspecify.annotations.NullMarked;
