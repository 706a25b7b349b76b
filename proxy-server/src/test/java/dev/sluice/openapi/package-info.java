/** The OpenAPI document of the contract, held against the code. */
@NullMarked
package dev.sluice.openapi;

import org.jspecify.annotations.NullMarked;
