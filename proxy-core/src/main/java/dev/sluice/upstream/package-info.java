/** Connections to endpoints, pooled per event loop; one request over one of them. */
@NullMarked
package dev.sluice.upstream;

import org.jspecify.annotations.NullMarked;
