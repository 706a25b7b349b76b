package dev.sluice.admin;

import dev.sluice.page.PageFiles;
import dev.sluice.page.Reply;
import dev.sluice.page.Routes;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the admin listener answers at each path. */
final class AdminRoutes implements Routes {
  /** Prometheus' own text form, the default. */
  static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  /** The OpenMetrics text form, for those who ask for it. */
  static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private static final Logger LOG = LoggerFactory.getLogger(AdminRoutes.class);
  private static final int SCRAPE_BYTES = 64 << 10;

  private final Metrics metrics;
  private final Supplier<Readiness> readiness;
  private final Supplier<String> config;
  private final Parts parts;
  private final Calls calls;
  private final PageFiles files = PageFiles.of("operator");

  AdminRoutes(
      Metrics metrics,
      Supplier<Readiness> readiness,
      Supplier<String> config,
      Parts parts,
      Calls calls) {
    this.metrics = metrics;
    this.readiness = readiness;
    this.config = config;
    this.parts = parts;
    this.calls = calls;
  }

  @Override
  public CompletionStage<Reply> answer(FullHttpRequest request, String path, SocketAddress peer) {
    if (path.equals("/exchanges") && isGet(request)) {
      return parts.exchanges().thenApply(json -> Reply.json(200, json));
    }
    return CompletableFuture.completedFuture(
        switch (path) {
          case "/metrics" -> onlyGet(request, () -> metrics(request));
          case "/healthz" -> onlyGet(request, () -> Reply.text(200, "ok"));
          case "/readyz" -> onlyGet(request, this::ready);
          case "/config" -> onlyGet(request, () -> Reply.json(200, config.get()));
          case "/exchanges" -> Reply.notAllowed("GET, HEAD");
          default -> other(request, path, peer);
        });
  }

  private Reply other(FullHttpRequest request, String path, SocketAddress peer) {
    Reply file = files.find(path);
    return file == null ? call(request, path, peer) : onlyGet(request, () -> file);
  }

  private Reply call(FullHttpRequest request, String path, SocketAddress peer) {
    Reply reply = calls.reply(request, path, peer);
    return reply == null
        ? Reply.text(
            404,
            "no such path (expected: /, /metrics, /healthz, /readyz, /config, " + Calls.PATHS + ")")
        : reply;
  }

  private static Reply onlyGet(FullHttpRequest request, Supplier<Reply> answer) {
    if (isGet(request)) {
      return answer.get(); // The codec leaves out the body of an answer to HEAD.
    }
    return Reply.text(405, "no such method (expected: GET or HEAD)").with("allow", "GET, HEAD");
  }

  private static boolean isGet(FullHttpRequest request) {
    return request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
  }

  private Reply ready() {
    Readiness now = readiness.get();
    return Reply.text(now == Readiness.READY ? 200 : 503, now.label());
  }

  private Reply metrics(FullHttpRequest request) {
    String form = form(request.headers().getAll(HttpHeaderNames.ACCEPT));
    ByteArrayOutputStream out = new ByteArrayOutputStream(SCRAPE_BYTES);
    try {
      metrics.scrape(out, form);
    } catch (IOException | RuntimeException e) {
      LOG.error("metrics: not written", e);
      return Reply.text(500, "metrics could not be written");
    }
    return new Reply(200, form, Map.of(), out.toString(StandardCharsets.UTF_8));
  }

  private static String form(List<String> accepted) {
    for (String value : accepted) {
      if (value.toLowerCase(Locale.ROOT).contains("application/openmetrics-text")) {
        return OPEN_METRICS;
      }
    }
    return PROMETHEUS_TEXT;
  }
}
