package dev.sluice.config;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.sluice.access.Plan;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Probe;
import dev.sluice.cluster.Timeouts;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A configuration in full as JSON, under the names of the file and in its forms, the defaults
 * filled in; {@code null} stands for what there is none of. Secrets are {@link #MASK}.
 */
public final class ConfigJson {
  /** Stands for a credential or a token. */
  public static final String MASK = "***";

  private final JsonGenerator json;

  private ConfigJson(JsonGenerator json) {
    this.json = json;
  }

  /**
   * Writes one object.
   *
   * @param memoryBudgetBytes what {@code limits.memory-budget} came to
   */
  public static void write(JsonGenerator json, SluiceConfig config, long memoryBudgetBytes)
      throws IOException {
    new ConfigJson(json).config(config, memoryBudgetBytes);
  }

  private void config(SluiceConfig config, long memoryBudgetBytes) throws IOException {
    json.writeStartObject();
    text("listen", config.listen().toString());
    text("admin", config.admin().toString());
    text("status", config.status() == null ? null : config.status().toString());
    text("access-log", config.accessLog().toString());
    limits(config.limits(), memoryBudgetBytes);
    text("keys", config.keysFile().toString());
    json.writeObjectFieldStart("plans");
    for (Plan plan : config.plans().values()) {
      plan(plan);
    }
    json.writeEndObject();
    json.writeObjectFieldStart("models");
    for (Model model : config.models()) {
      model(model);
    }
    json.writeEndObject();
    json.writeObjectFieldStart("operations");
    for (Operation operation : config.operations()) {
      if (!Operation.BUILT_IN.contains(operation)) {
        json.writeObjectFieldStart(operation.path());
        json.writeBooleanField("messages", operation.messagesRequired());
        json.writeEndObject();
      }
    }
    json.writeEndObject();
    tracing(config.tracing());
    boolean pings = !config.ssePing().equals(SluiceConfig.NO_PING);
    duration("sse-ping", pings ? config.ssePing() : null);
    text("revoke", config.revoke().text());
    secret("admin-token-env", config.adminToken());
    duration("shutdown-grace", config.shutdownGrace());
    json.writeEndObject();
  }

  private void tracing(Tracing tracing) throws IOException {
    if (tracing.collector() == null) {
      json.writeNullField("tracing");
      return;
    }
    json.writeObjectFieldStart("tracing");
    text("otlp", tracing.collector().toString());
    json.writeNumberField("sample", tracing.sample());
    json.writeEndObject();
  }

  private void limits(HttpLimits limits, long memoryBudgetBytes) throws IOException {
    json.writeObjectFieldStart("limits");
    text("max-body-bytes", Amounts.text(limits.maxBodyBytes()));
    json.writeNumberField("max-connections", limits.maxConnections());
    json.writeNumberField("max-exchanges", limits.maxExchanges());
    text("memory-budget", Amounts.text(memoryBudgetBytes));
    duration("head-timeout", limits.headTimeout());
    duration("body-timeout", limits.bodyTimeout());
    json.writeEndObject();
  }

  private void plan(Plan plan) throws IOException {
    json.writeObjectFieldStart(plan.name());
    json.writeNumberField("streams", plan.streams());
    if (plan.streamsPerKey() == Plan.UNBOUNDED) {
      json.writeNullField("streams-per-key");
    } else {
      json.writeNumberField("streams-per-key", plan.streamsPerKey());
    }
    List<String> models =
        plan.allModels() ? List.of(Names.EVERY_MODEL) : plan.models().stream().sorted().toList();
    json.writeArrayFieldStart("models");
    for (String model : models) {
      json.writeString(model);
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private void model(Model model) throws IOException {
    json.writeObjectFieldStart(model.id());
    text("upstream-model", model.upstreamModel() == null ? model.id() : model.upstreamModel());
    json.writeArrayFieldStart("upstreams");
    for (Endpoint endpoint : model.endpoints()) {
      json.writeStartObject();
      text("url", endpoint.toString());
      secret("api-key-env", endpoint.credential());
      json.writeNumberField("weight", endpoint.weight());
      json.writeEndObject();
    }
    json.writeEndArray();
    text("owned-by", model.ownedBy());
    Timeouts timeouts = model.timeouts();
    json.writeObjectFieldStart("timeouts");
    duration("connect", timeouts.connect());
    duration("first-byte", timeouts.firstByte());
    duration("idle", timeouts.idle());
    duration("total", timeouts.total());
    json.writeEndObject();
    text("balance", ModelsReader.text(model.balance()));
    json.writeNumberField("attempts", model.attempts());
    probe(model.probe());
    json.writeEndObject();
  }

  private void probe(@Nullable Probe probe) throws IOException {
    if (probe == null) {
      json.writeNullField("probe");
      return;
    }
    json.writeObjectFieldStart("probe");
    text("path", probe.path());
    duration("interval", probe.interval());
    duration("timeout", probe.timeout());
    json.writeNumberField("healthy-after", probe.healthyAfter());
    json.writeNumberField("unhealthy-after", probe.unhealthyAfter());
    json.writeEndObject();
  }

  private void text(String name, @Nullable String value) throws IOException {
    json.writeStringField(name, value);
  }

  private void secret(String name, @Nullable String value) throws IOException {
    text(name, value == null ? null : MASK);
  }

  private void duration(String name, @Nullable Duration value) throws IOException {
    text(name, value == null ? null : Amounts.text(value));
  }
}
