/**
 * Sluice as a process beside nginx and HAProxy: starts them, puts the same loads on each in turn,
 * and writes down what they cost.
 */
@NullMarked
package dev.sluice.compare;

import org.jspecify.annotations.NullMarked;
