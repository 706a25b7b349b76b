/**
 * A YAML file as values that know their place, and the faults found in them: all of them at once,
 * each with its line, what was found and what is expected. And noticing that a file has changed.
 */
@NullMarked
package dev.sluice.yaml;

import org.jspecify.annotations.NullMarked;
