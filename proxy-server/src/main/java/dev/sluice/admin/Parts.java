package dev.sluice.admin;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.sluice.admin.Operations.DrainReport;
import dev.sluice.admin.Operations.EndpointReport;
import dev.sluice.admin.Operations.Overview;
import dev.sluice.admin.Operations.PlanReport;
import dev.sluice.admin.Operations.Problem;
import dev.sluice.admin.Operations.ReloadReport;
import dev.sluice.exchange.OpenExchange;
import dev.sluice.page.Reply;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What operators see, part by part, each one JSON object: at its own path and on their page. */
final class Parts {
  /** How many exchanges are shown: the oldest are those that hang. */
  static final int MAX_EXCHANGES = 200;

  private final Operations operations;

  Parts(Operations operations) {
    this.operations = operations;
  }

  /** Writes one item of a list. */
  private interface Item<T> {
    void to(JsonGenerator json, T item) throws IOException;
  }

  private static <T> void list(
      JsonGenerator json, String name, Collection<T> items, Item<T> members) throws IOException {
    json.writeArrayFieldStart(name);
    for (T item : items) {
      json.writeStartObject();
      members.to(json, item);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  String problems() {
    List<Problem> problems = operations.problems();
    return Reply.object(json -> list(json, "problems", problems, Parts::problem));
  }

  private static void problem(JsonGenerator json, Problem problem) throws IOException {
    json.writeStringField("severity", problem.isAlarm() ? "alarm" : "caution");
    json.writeStringField("text", problem.text());
  }

  String overview() {
    Overview overview = operations.overview();
    return Reply.object(
        json -> {
          json.writeNumberField("exchanges", overview.exchanges());
          json.writeNumberField("max_exchanges", overview.maxExchanges());
          json.writeNumberField("streams", overview.streams());
          json.writeNumberField("connections", overview.connections());
          json.writeNumberField("max_connections", overview.maxConnections());
          json.writeNumberField("memory_held_bytes", overview.memoryHeldBytes());
          json.writeNumberField("memory_limit_bytes", overview.memoryLimitBytes());
          list(json, "plans", overview.plans(), Parts::plan);
        });
  }

  private static void plan(JsonGenerator json, PlanReport plan) throws IOException {
    json.writeStringField("name", plan.name());
    json.writeNumberField("slots_in_use", plan.slotsInUse());
    json.writeNumberField("slots", plan.slots());
  }

  CompletionStage<String> exchanges() {
    return operations
        .oldestExchanges(MAX_EXCHANGES)
        .thenApply(
            exchanges ->
                Reply.object(
                    json -> {
                      json.writeNumberField(
                          "total", Math.max(operations.overview().exchanges(), exchanges.size()));
                      list(json, "exchanges", exchanges, Parts::exchange);
                    }));
  }

  private static void exchange(JsonGenerator json, OpenExchange exchange) throws IOException {
    json.writeStringField("request_id", exchange.requestId());
    json.writeNumberField(
        "age_seconds", TimeUnit.NANOSECONDS.toSeconds(Math.max(0, exchange.ageNanos())));
    json.writeStringField("operation", exchange.operation());
    json.writeStringField("model", exchange.model());
    json.writeStringField("plan", exchange.plan());
    json.writeStringField("key", exchange.key());
    json.writeStringField("phase", exchange.phase().label());
    json.writeBooleanField("stream", exchange.stream());
    json.writeStringField("endpoint", exchange.endpoint());
    json.writeNumberField("attempts", exchange.attempts());
    json.writeNumberField("bytes_in", exchange.bytesIn());
    json.writeNumberField("bytes_out", exchange.bytesOut());
    json.writeNumberField("events", exchange.events());
  }

  String maintenance() {
    Map<String, Long> maintenance = operations.maintenance();
    return Reply.object(
        json ->
            list(
                json,
                "maintenance",
                maintenance.entrySet(),
                (to, one) -> {
                  to.writeStringField("model", one.getKey());
                  to.writeNumberField("remaining_seconds", one.getValue());
                }));
  }

  String drain() {
    DrainReport report = operations.drain();
    return Reply.object(
        json -> {
          json.writeBooleanField("draining", report.draining());
          number(json, "deadline_seconds", report.draining() ? report.deadlineSeconds() : null);
          json.writeNumberField("exchanges", report.exchanges());
          json.writeNumberField("streams", report.streams());
        });
  }

  String endpoints() {
    return endpoints(operations.endpoints());
  }

  static String endpoints(List<EndpointReport> endpoints) {
    return Reply.object(json -> list(json, "endpoints", endpoints, Parts::endpoint));
  }

  private static void endpoint(JsonGenerator json, EndpointReport endpoint) throws IOException {
    json.writeStringField("model", endpoint.model());
    json.writeStringField("id", endpoint.id());
    json.writeStringField("state", endpoint.state());
    number(json, "wait_seconds", endpoint.waitSeconds());
    json.writeBooleanField("failing", endpoint.failing());
    json.writeNumberField("open_exchanges", endpoint.openExchanges());
    json.writeNumberField("weight", endpoint.weight());
  }

  private static void number(JsonGenerator json, String name, @Nullable Long value)
      throws IOException {
    if (value == null) {
      json.writeNullField(name);
    } else {
      json.writeNumberField(name, value);
    }
  }

  String reloads() {
    List<ReloadReport> reloads = operations.reloads();
    return Reply.object(json -> list(json, "reloads", reloads, Parts::reload));
  }

  private static void reload(JsonGenerator json, ReloadReport reload) throws IOException {
    json.writeStringField("at", reload.at().toString());
    json.writeStringField("file", reload.file());
    json.writeStringField("result", reload.isRefused() ? "refused" : "ok");
    json.writeStringField("told", reload.told());
    json.writeArrayFieldStart("faults");
    for (String fault : reload.faults()) {
      json.writeString(fault);
    }
    json.writeEndArray();
  }
}
