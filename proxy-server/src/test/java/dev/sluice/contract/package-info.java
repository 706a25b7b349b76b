/**
 * The contract, held against the real process over real sockets: one class for each part of it.
 * Whatever fails here fails for a user.
 */
@NullMarked
package dev.sluice.contract;

import org.jspecify.annotations.NullMarked;
