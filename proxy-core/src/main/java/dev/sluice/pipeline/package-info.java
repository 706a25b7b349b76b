/**
 * The Netty pipeline: how a connection's bytes become exchanges; and the rules of the contract, one
 * class each, in the contract's order. The reader starts at {@code EdgePipeline} and {@code Rules}.
 */
@NullMarked
package dev.sluice.pipeline;

import org.jspecify.annotations.NullMarked;
