/**
 * What is under {@code deploy}, held against what it deploys. Tests that need more than a JDK and
 * Maven carry the tag {@code deploy} and run in the profile of that name.
 */
@NullMarked
package dev.sluice.deploy;

import org.jspecify.annotations.NullMarked;
