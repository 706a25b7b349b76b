/**
 * Rules over heads, without channels: how a head is read, what of it is refused, how long a body
 * is, which headers go on, request ids, media types, limits.
 */
@NullMarked
package dev.sluice.http;

import org.jspecify.annotations.NullMarked;
