/** Models, the clusters of endpoints that serve them, and picking one endpoint for an attempt. */
@NullMarked
package dev.sluice.cluster;

import org.jspecify.annotations.NullMarked;
