package dev.sluice.pipeline;

import dev.sluice.error.Failure;
import io.netty.handler.codec.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/**
 * What comes down the pipeline in place of a request, or of the rest of its body, that cannot be
 * read. Nothing follows: the answer is the connection's last.
 *
 * @param failure what is wrong with it
 * @param head the request's head, where that much could be read
 */
record Unreadable(Failure failure, @Nullable HttpRequest head) {}
