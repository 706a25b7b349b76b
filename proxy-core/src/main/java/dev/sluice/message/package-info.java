/**
 * One pass over a request body as it came: is it one JSON document, has it the shape of the
 * contract, are its images base64 data URLs. Yields the few facts that the proxy acts on. The same
 * scanner looks at whole answers of an upstream.
 */
@NullMarked
package dev.sluice.message;

import org.jspecify.annotations.NullMarked;
