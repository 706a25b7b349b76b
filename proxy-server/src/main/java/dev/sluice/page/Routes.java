package dev.sluice.page;

import io.netty.handler.codec.http.FullHttpRequest;
import java.net.SocketAddress;
import java.util.concurrent.CompletionStage;

/** What a listener answers to each request but those for {@link LiveEvents}. */
@FunctionalInterface
public interface Routes {

  /**
   * Answers one request. Called on the listener's loop; must not block. The request is released
   * when this returns.
   *
   * @param path the target without its query
   * @param peer who asks
   * @return may complete later, and on another thread
   */
  CompletionStage<Reply> answer(FullHttpRequest request, String path, SocketAddress peer);
}
