package dev.sluice.config;

import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Timeouts;
import dev.sluice.yaml.Fields;
import dev.sluice.yaml.Value;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads {@code models}. */
final class ModelsReader {
  static final String RULE = "a map from at least one model id to its upstreams";

  private static final String UPSTREAMS_RULE = "a list of at least one upstream, each with its url";
  private static final String VARIABLE_RULE =
      "the name of an environment variable: letters, digits and _";
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");
  private static final Pattern CREDENTIAL = Pattern.compile("[!-~]{1,8192}");

  /** Stands for an endpoint that could not be read, so that reading goes on. */
  private static final Endpoint UNREADABLE = new Endpoint("invalid", 1, false, "", null);

  private final Map<String, String> environment;
  private final Instant created;

  ModelsReader(Map<String, String> environment, Instant created) {
    this.environment = environment;
    this.created = created;
  }

  List<Model> models(Value value) {
    List<Model> models = new ArrayList<>();
    for (Value.Entry entry : value.someEntries(RULE)) {
      String id = entry.key().text(Names.MODEL_RULE, Names::isModelId, "");
      models.add(model(id, entry.value()));
    }
    return models;
  }

  private Model model(String id, Value value) {
    Fields fields = value.fields("upstream-model", "upstreams", "owned-by", "timeouts");
    String upstreamModel =
        fields
            .optional("upstream-model")
            .text(Names.UPSTREAM_MODEL_RULE, Names::isUpstreamModel, id);
    String ownedBy =
        fields
            .optional("owned-by")
            .text(Names.NAME_RULE, Names::isName, SluiceConfig.DEFAULT_OWNED_BY);
    return new Model(
        id,
        upstreamModel.equals(id) ? null : upstreamModel,
        endpoints(fields.required("upstreams", UPSTREAMS_RULE)),
        timeouts(fields.optional("timeouts")),
        ownedBy,
        created);
  }

  private List<Endpoint> endpoints(Value value) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (Value item : value.someItems(UPSTREAMS_RULE)) {
      Endpoint endpoint = endpoint(item);
      if (!endpoint.equals(UNREADABLE) && endpoints.contains(endpoint)) {
        item.fault(endpoint.toString(), "each upstream of a model once");
      }
      endpoints.add(endpoint);
    }
    return endpoints.isEmpty() ? List.of(UNREADABLE) : endpoints;
  }

  private Endpoint endpoint(Value value) {
    Fields fields = value.fields("url", "api-key-env");
    String credential = credential(fields.optional("api-key-env"));
    Value url = fields.required("url", UpstreamUrl.RULE);
    UpstreamUrl parsed = url.scalar(UpstreamUrl.RULE, UpstreamUrl::parse, UpstreamUrl.ABSENT);
    UpstreamUrl.Fault fault = parsed.fault();
    if (fault != null) {
      url.fault(fault.found(), fault.expected());
      return UNREADABLE;
    }
    return parsed.equals(UpstreamUrl.ABSENT) ? UNREADABLE : parsed.endpoint(credential);
  }

  /** The credential in the environment variable that the value names. It is in no fault. */
  private @Nullable String credential(Value value) {
    String variable = value.text(VARIABLE_RULE, text -> true, "");
    if (variable.isEmpty()) {
      if (value.isPresent()) {
        value.fault("no name", VARIABLE_RULE);
      }
      return null;
    }
    if (!VARIABLE.matcher(variable).matches()) {
      // May be the credential itself, in the wrong place.
      value.fault("text that cannot be the name of a variable", VARIABLE_RULE);
      return null;
    }
    String credential = environment.get(variable);
    if (credential == null || credential.isEmpty()) {
      value.fault(
          variable + (credential == null ? " is not set" : " is empty"),
          "an environment variable that holds the upstream's key");
      return null;
    }
    if (!CREDENTIAL.matcher(credential).matches()) {
      value.fault(
          variable + " holds white space, a control or another character outside visible ASCII",
          "an environment variable that holds the upstream's key alone");
      return null;
    }
    return credential;
  }

  private static Timeouts timeouts(Value value) {
    Timeouts defaults = Timeouts.DEFAULT;
    if (!value.isPresent()) {
      return defaults;
    }
    Fields fields = value.fields("connect", "first-byte", "idle");
    return new Timeouts(
        Amounts.duration(fields.optional("connect"), defaults.connect()),
        Amounts.duration(fields.optional("first-byte"), defaults.firstByte()),
        Amounts.duration(fields.optional("idle"), defaults.idle()));
  }
}
