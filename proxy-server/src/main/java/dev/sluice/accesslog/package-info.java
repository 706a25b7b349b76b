/**
 * Where the lines of the access log go, standard output or a file, without an event loop ever
 * waiting for a disk or a pipe.
 */
@NullMarked
package dev.sluice.accesslog;

import org.jspecify.annotations.NullMarked;
