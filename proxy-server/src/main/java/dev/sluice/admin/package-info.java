/**
 * What operators and their machines ask the process: its meters, whether it lives, whether it takes
 * requests. On an address and a loop of its own, apart from the public listener.
 */
@NullMarked
package dev.sluice.admin;

import org.jspecify.annotations.NullMarked;
