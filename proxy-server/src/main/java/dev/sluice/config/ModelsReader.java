package dev.sluice.config;

import dev.sluice.cluster.Balance;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.cluster.Probe;
import dev.sluice.cluster.Timeouts;
import dev.sluice.yaml.Fields;
import dev.sluice.yaml.Value;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads {@code models}. */
final class ModelsReader {
  private static final int MAX_ATTEMPTS = 5;
  private static final int MAX_WEIGHT = 1000;
  private static final int MAX_PROBES = 100;
  private static final String BALANCE_RULE = "least-exchanges or prefix-affinity";
  private static final String PROBE_PATH_RULE =
      "a path as it stands in a request line, as in /health";
  private static final Pattern PROBE_PATH = Pattern.compile("/[!-~&&[^#]]{0,255}");

  static final String RULE = "a map from at least one model id to its upstreams";

  private static final String UPSTREAMS_RULE = "a list of at least one upstream, each with its url";
  private static final String VARIABLE_RULE =
      "the name of an environment variable: letters, digits and _";
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");
  private static final Pattern CREDENTIAL = Pattern.compile("[!-~]{1,8192}");

  /** Stands for an endpoint that could not be read, so that reading goes on. */
  static final Endpoint UNREADABLE = new Endpoint("invalid", 1, false, "", null);

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
    Fields fields =
        value.fields(
            "upstream-model", "upstreams", "owned-by", "timeouts", "balance", "attempts", "probe");
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
        fields
            .optional("balance")
            .scalar(BALANCE_RULE, ModelsReader::balance, Balance.LEAST_EXCHANGES),
        fields.optional("attempts").wholeNumber(1, MAX_ATTEMPTS, Model.DEFAULT_ATTEMPTS),
        probe(fields.optional("probe")),
        ownedBy,
        created);
  }

  private List<Endpoint> endpoints(Value value) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (Value item : value.someItems(UPSTREAMS_RULE)) {
      Endpoint endpoint = endpoint(item);
      if (!endpoint.equals(UNREADABLE)
          && endpoints.stream()
              .anyMatch(other -> other.withWeight(endpoint.weight()).equals(endpoint))) {
        item.fault(endpoint.toString(), "each upstream of a model once");
      }
      endpoints.add(endpoint);
    }
    return endpoints.isEmpty() ? List.of(UNREADABLE) : endpoints;
  }

  private Endpoint endpoint(Value value) {
    Fields fields = value.fields("url", "api-key-env", "weight");
    int weight = fields.optional("weight").wholeNumber(1, MAX_WEIGHT, 1);
    String credential = credential(fields.optional("api-key-env"));
    return endpoint(fields.required("url", UpstreamUrl.RULE), credential, weight);
  }

  /** The endpoint of a URL. */
  static Endpoint endpoint(Value url, @Nullable String credential, int weight) {
    UpstreamUrl parsed = url.scalar(UpstreamUrl.RULE, UpstreamUrl::parse, UpstreamUrl.ABSENT);
    UpstreamUrl.Fault fault = parsed.fault();
    if (fault != null) {
      url.fault(fault.found(), fault.expected());
      return UNREADABLE;
    }
    return parsed.equals(UpstreamUrl.ABSENT) ? UNREADABLE : parsed.endpoint(credential, weight);
  }

  /** The credential in the environment variable that the value names. It is in no fault. */
  @Nullable String credential(Value value) {
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
          "an environment variable that holds the key");
      return null;
    }
    if (!CREDENTIAL.matcher(credential).matches()) {
      value.fault(
          variable + " holds white space, a control or another character outside visible ASCII",
          "an environment variable that holds the key alone");
      return null;
    }
    return credential;
  }

  private static Timeouts timeouts(Value value) {
    Timeouts defaults = Timeouts.DEFAULT;
    if (!value.isPresent()) {
      return defaults;
    }
    Fields fields = value.fields("connect", "first-byte", "idle", "total");
    Value total = fields.optional("total");
    return new Timeouts(
        Amounts.duration(fields.optional("connect"), defaults.connect()),
        Amounts.duration(fields.optional("first-byte"), defaults.firstByte()),
        Amounts.duration(fields.optional("idle"), defaults.idle()),
        total.isPresent() ? Amounts.duration(total, Amounts.MAX_DURATION) : null);
  }

  /** As it stands in the configuration. */
  static String text(Balance balance) {
    return balance.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static @Nullable Balance balance(String text) {
    for (Balance balance : Balance.values()) {
      if (text.equals(text(balance))) {
        return balance;
      }
    }
    return null;
  }

  private static @Nullable Probe probe(Value value) {
    if (!value.isPresent()) {
      return null;
    }
    Probe defaults = Probe.DEFAULT;
    Fields fields = value.fields("path", "interval", "timeout", "healthy-after", "unhealthy-after");
    return new Probe(
        fields.optional("path").text(PROBE_PATH_RULE, ModelsReader::isPath, defaults.path()),
        Amounts.duration(fields.optional("interval"), defaults.interval()),
        Amounts.duration(fields.optional("timeout"), defaults.timeout()),
        fields.optional("healthy-after").wholeNumber(1, MAX_PROBES, defaults.healthyAfter()),
        fields.optional("unhealthy-after").wholeNumber(1, MAX_PROBES, defaults.unhealthyAfter()));
  }

  private static boolean isPath(String path) {
    return PROBE_PATH.matcher(path).matches();
  }
}
