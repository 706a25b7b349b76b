/** The official SDKs as callers: what their users see through Sluice. */
@NullMarked
package dev.sluice.sdk;

import org.jspecify.annotations.NullMarked;
