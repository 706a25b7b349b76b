/**
 * The command line: what a person or a service unit types. Standard output carries what was asked
 * for, standard error everything else; exit codes are 0, 1 for a failure, 2 for a usage or
 * configuration fault.
 */
@NullMarked
package dev.sluice.cli;

import org.jspecify.annotations.NullMarked;
