package dev.sluice.status;

import dev.sluice.page.PageFiles;
import dev.sluice.page.Reply;
import dev.sluice.page.Routes;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the status listener answers at each path. */
final class StatusRoutes implements Routes {
  private final PageFiles files = PageFiles.of("status");
  private final Supplier<String> status;
  private final KeyCheck keys;

  StatusRoutes(Supplier<String> status, KeyCheck keys) {
    this.status = status;
    this.keys = keys;
  }

  @Override
  public CompletionStage<Reply> answer(FullHttpRequest request, String path, SocketAddress peer) {
    HttpMethod method = request.method();
    if (path.equals("/key")) {
      return method.equals(HttpMethod.POST)
          ? keys.reply(request.headers(), peer)
          : now(Reply.notAllowed("POST"));
    }
    Reply found = path.equals("/status.json") ? Reply.json(200, status.get()) : files.find(path);
    return now(shown(method, found));
  }

  private static Reply shown(HttpMethod method, @Nullable Reply found) {
    if (found == null) {
      return Reply.refused(404, "no such path (expected: /, /status.json, /events or /key)");
    }
    boolean get = method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
    return get ? found : Reply.notAllowed("GET, HEAD");
  }

  private static CompletionStage<Reply> now(Reply reply) {
    return CompletableFuture.completedFuture(reply);
  }
}
