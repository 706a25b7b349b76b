package dev.sluice.admin;

import dev.sluice.admin.Operations.EndpointReport;
import dev.sluice.config.Amounts;
import dev.sluice.page.Reply;
import dev.sluice.pipeline.Maintenance;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What operators call: {@code GET} shows what is true now, {@code POST} changes it and shows it
 * then. Parameters stand in the query.
 */
final class Calls {
  /** The paths, for those who ask for another. */
  static final String PATHS =
      "/problems, /overview, /exchanges, /reloads, /maintenance, /drain, /endpoints,"
          + " /endpoints/{id}/eject or /endpoints/{id}/restore";

  private static final Logger LOG = LoggerFactory.getLogger(Calls.class);
  private static final String MAINTENANCE = "/maintenance";
  private static final String DRAIN = "/drain";
  private static final String ENDPOINTS = "/endpoints";
  private static final String EJECT = "/eject";
  private static final String RESTORE = "/restore";

  private final Operations operations;
  private final Parts parts;
  private final AccessRule access;

  Calls(Operations operations, AccessRule access) {
    this.operations = operations;
    this.parts = new Parts(operations);
    this.access = access;
  }

  /** Answers a call; null where there is no such path. */
  @Nullable Reply reply(FullHttpRequest request, String path, SocketAddress peer) {
    if (!request.method().equals(HttpMethod.POST)) {
      return read(request.method(), path);
    }
    Reply refusal = access.refusal(request.headers(), peer);
    Reply reply = refusal == null ? change(request, path) : refusal;
    log(request, path, peer, reply);
    return reply;
  }

  /** A target may hold what was never meant to be seen: only one that is right is shown whole. */
  private static void log(
      FullHttpRequest request, String path, SocketAddress peer, @Nullable Reply reply) {
    String who =
        peer instanceof InetSocketAddress address
            ? NetUtil.toSocketAddressString(address)
            : "an unknown address";
    int status = reply == null ? 404 : reply.status();
    String what = Parameters.shown(status == 200 ? request.uri() : path);
    LOG.info("operator at {}: POST {}: {}", who, what, status);
  }

  private @Nullable Reply read(HttpMethod method, String path) {
    boolean get = method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
    return switch (path) {
      case MAINTENANCE -> get ? shown(parts.maintenance()) : Reply.notAllowed("GET, HEAD, POST");
      case DRAIN -> get ? shown(parts.drain()) : Reply.notAllowed("GET, HEAD, POST");
      case ENDPOINTS -> get ? shown(parts.endpoints()) : Reply.notAllowed("GET, HEAD");
      case "/problems" -> get ? shown(parts.problems()) : Reply.notAllowed("GET, HEAD");
      case "/overview" -> get ? shown(parts.overview()) : Reply.notAllowed("GET, HEAD");
      case "/reloads" -> get ? shown(parts.reloads()) : Reply.notAllowed("GET, HEAD");
      default -> isOfEndpoint(path) ? Reply.notAllowed("POST") : null;
    };
  }

  private static Reply shown(String json) {
    return Reply.json(200, json);
  }

  private @Nullable Reply change(FullHttpRequest request, String path) {
    if (request.content().isReadable()) {
      return Reply.refused(
          400,
          "body: "
              + request.content().readableBytes()
              + " bytes (expected: none; parameters stand in the query)");
    }
    return switch (path) {
      case MAINTENANCE -> maintain(new Parameters(request.uri(), List.of("for", "model")));
      case DRAIN -> drain(new Parameters(request.uri(), List.of("deadline")));
      case ENDPOINTS, "/problems", "/overview", "/reloads" -> Reply.notAllowed("GET, HEAD");
      default ->
          isOfEndpoint(path)
              ? ofEndpoint(path, new Parameters(request.uri(), List.of("model")))
              : null;
    };
  }

  // Maintenance.

  private Reply maintain(Parameters parameters) {
    Duration length = parameters.duration("for");
    if (length == null) {
      parameters.fault("for", "", Amounts.DURATION_RULE);
    }
    String model = parameters.text("model");
    if (model != null && !mayBeMaintained(model)) {
      parameters.fault("model", model, "one of " + String.join(", ", operations.models()));
    }
    if (length == null || parameters.fault() != null) {
      return refused(parameters);
    }
    operations.maintain(model == null ? Maintenance.ALL : model, length);
    return shown(parts.maintenance());
  }

  /** A model that is configured no longer may still be in maintenance, which can be ended. */
  private boolean mayBeMaintained(String model) {
    return operations.models().contains(model)
        || (!model.equals(Maintenance.ALL) && operations.maintenance().containsKey(model));
  }

  // Drain.

  private Reply drain(Parameters parameters) {
    Duration deadline = parameters.duration("deadline");
    if (parameters.fault() != null) {
      return refused(parameters);
    }
    operations.drain(deadline);
    return shown(parts.drain());
  }

  // Endpoints.

  private static boolean isOfEndpoint(String path) {
    return path.startsWith(ENDPOINTS + "/")
        && (path.endsWith(EJECT) || path.endsWith(RESTORE))
        && path.lastIndexOf('/') > ENDPOINTS.length();
  }

  /** Of all models that have an endpoint with that id, or of the one that is named. */
  private Reply ofEndpoint(String path, Parameters parameters) {
    String model = parameters.text("model");
    if (model != null && !operations.models().contains(model)) {
      parameters.fault("model", model, "one of " + String.join(", ", operations.models()));
    }
    String id = decoded(path.substring(ENDPOINTS.length() + 1, path.lastIndexOf('/')));
    if (id == null) {
      parameters.fault("id", "malformed", "percent-encoded UTF-8");
    }
    if (id == null || parameters.fault() != null) {
      return refused(parameters);
    }
    List<EndpointReport> found = named(id, model);
    if (found.isEmpty()) {
      String known =
          operations.endpoints().stream()
              .filter(endpoint -> model == null || endpoint.model().equals(model))
              .map(EndpointReport::id)
              .distinct()
              .collect(Collectors.joining(", "));
      return Reply.refused(
          404, "id: " + Parameters.shown(id) + " (expected: one of " + known + ")");
    }
    for (EndpointReport endpoint : found) {
      if (path.endsWith(EJECT)) {
        operations.eject(endpoint.model(), id);
      } else {
        operations.restore(endpoint.model(), id);
      }
    }
    return shown(Parts.endpoints(named(id, model)));
  }

  private List<EndpointReport> named(String id, @Nullable String model) {
    return operations.endpoints().stream()
        .filter(endpoint -> endpoint.id().equals(id))
        .filter(endpoint -> model == null || endpoint.model().equals(model))
        .toList();
  }

  private static @Nullable String decoded(String segment) {
    try {
      return new QueryStringDecoder("/" + segment).path().substring(1);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static Reply refused(Parameters parameters) {
    return Reply.refused(400, String.valueOf(parameters.fault()));
  }
}
