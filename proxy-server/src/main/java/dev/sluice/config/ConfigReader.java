package dev.sluice.config;

import dev.sluice.access.Plan;
import dev.sluice.cluster.Endpoint;
import dev.sluice.cluster.Model;
import dev.sluice.http.HttpLimits;
import dev.sluice.yaml.Fields;
import dev.sluice.yaml.Value;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads one configuration, from its YAML document to the core's records. */
final class ConfigReader {
  private static final int MAX_CONNECTIONS = 1_000_000;

  private static final String ADDRESS_RULE =
      "host:port, the host a name, an IPv4 address, or an IPv6 address in brackets, as in "
          + "\"[::1]:8080\" with its quotes";
  private static final String PATH_RULE = "the path of a file";
  private static final String ACCESS_LOG_RULE =
      "none, stdout, or the path of a file, with a / or a . in it";
  private static final String SHARE_RULE = "a share from 0 to 1, as in 0.1";
  private static final String REVOKE_RULE = "finish or cut";
  private static final long MIN_MEMORY_BUDGET = 1 << 20;
  private static final String PLANS_RULE =
      "a map from at least one name of a plan to its slots and models";
  private static final String PLAN_NAME_RULE = Names.NAME_RULE + ", and not unknown";
  private static final String PLAN_MODELS_RULE = "a list of model ids, or [\"*\"] for every model";

  private final Path file;
  private final ModelsReader modelsReader;
  private final @Nullable SluiceConfig running;
  private final Set<String> planNames = new HashSet<>();
  private @Nullable Path keysFile;

  /**
   * A reader of one document.
   *
   * @param running what the document is to replace while it runs; null at the start
   */
  ConfigReader(
      Path file, Map<String, String> environment, Instant created, @Nullable SluiceConfig running) {
    this.file = file;
    this.running = running;
    this.modelsReader = new ModelsReader(environment, created);
  }

  @Nullable Path keysFile() {
    return keysFile;
  }

  Set<String> planNames() {
    return planNames;
  }

  /** The configuration of a document; its faults are noted on its values. */
  SluiceConfig config(Value document) {
    Fields fields =
        document.fields(
            "listen",
            "admin",
            "status",
            "access-log",
            "limits",
            "keys",
            "plans",
            "models",
            "operations",
            "sse-ping",
            "revoke",
            "admin-token-env",
            "shutdown-grace",
            "tracing");
    ListenAddress listen =
        fixed(
            fields.optional("listen"),
            ConfigReader::address,
            SluiceConfig.DEFAULT_LISTEN,
            SluiceConfig::listen);
    ListenAddress admin =
        fixed(
            fields.optional("admin"),
            ConfigReader::address,
            SluiceConfig.DEFAULT_ADMIN,
            SluiceConfig::admin);
    StatusAddress status =
        fixed(
            fields.optional("status"),
            ConfigReader::statusAddress,
            StatusAddress.NONE,
            config -> new StatusAddress(config.status()));
    if (listen.port() == admin.port() && listen.port() != 0) {
      Value wrong = fields.optional(fields.optional("admin").isPresent() ? "admin" : "listen");
      wrong.fault(String.valueOf(listen.port()), "a port for listen and another one for admin");
    }
    if (status.isAt(listen.port()) || status.isAt(admin.port())) {
      Value wrong = fields.optional("status");
      wrong.fault(status.toString(), "another port than those of listen and admin");
    }
    Fields limits =
        fields
            .optional("limits")
            .fields(
                "max-body-bytes",
                "max-connections",
                "max-exchanges",
                "head-timeout",
                "body-timeout",
                "memory-budget");
    MemoryBudget memoryBudget =
        fixed(
            limits.optional("memory-budget"),
            ConfigReader::memoryBudget,
            MemoryBudget.HALF,
            config -> new MemoryBudget(config.memoryBudgetBytes()));
    Value adminToken = fields.optional("admin-token-env");
    Value ping = fields.optional("sse-ping");
    List<Model> models = modelsReader.models(fields.required("models", ModelsReader.RULE));
    Set<String> modelIds = new HashSet<>();
    models.forEach(model -> modelIds.add(model.id()));
    return new SluiceConfig(
        listen,
        admin,
        status.address,
        fixed(
            fields.optional("access-log"),
            this::accessLog,
            AccessLog.STDOUT,
            SluiceConfig::accessLog),
        limits(limits),
        memoryBudget.bytes,
        keys(fields.required("keys", PATH_RULE)),
        plans(fields.required("plans", PLANS_RULE), modelIds),
        models,
        OperationsReader.operations(fields.optional("operations")),
        fixed(
            fields.optional("tracing"), ConfigReader::tracing, Tracing.NONE, SluiceConfig::tracing),
        ping.isPresent() ? Amounts.duration(ping, SluiceConfig.NO_PING) : SluiceConfig.NO_PING,
        fields.optional("revoke").scalar(REVOKE_RULE, ConfigReader::revoke, Revoke.FINISH),
        adminToken.isPresent() ? modelsReader.credential(adminToken) : null,
        Amounts.durationOrZero(
            fields.optional("shutdown-grace"), SluiceConfig.DEFAULT_SHUTDOWN_GRACE));
  }

  /** An address as it is told: {@code 0.0.0.0:8081}, or that there is none. */
  private record StatusAddress(@Nullable ListenAddress address) {
    static final StatusAddress NONE = new StatusAddress(null);

    boolean isAt(int port) {
      return address != null && address.port() == port && port != 0;
    }

    @Override
    public String toString() {
      return address == null ? "none" : address.toString();
    }
  }

  private static StatusAddress statusAddress(Value value, StatusAddress fallback) {
    return value.isPresent()
        ? value.scalar(ADDRESS_RULE, text -> statusAddress(ListenAddress.parse(text)), fallback)
        : fallback;
  }

  private static @Nullable StatusAddress statusAddress(@Nullable ListenAddress address) {
    return address == null ? null : new StatusAddress(address);
  }

  /** A budget as it is told: {@code 2GiB}, or what it is where the file does not say. */
  private record MemoryBudget(OptionalLong bytes) {
    static final MemoryBudget HALF = new MemoryBudget(OptionalLong.empty());

    @Override
    public String toString() {
      return bytes.isPresent() ? Amounts.text(bytes.getAsLong()) : "half the direct memory";
    }
  }

  private static MemoryBudget memoryBudget(Value value, MemoryBudget fallback) {
    return new MemoryBudget(Amounts.largeBytes(value, MIN_MEMORY_BUDGET, fallback.bytes));
  }

  /**
   * Reads what cannot change while the process runs. Where it would, that is a fault; one of
   * syntax, which stands for what runs, is not a second one.
   */
  private <T> T fixed(
      Value value, BiFunction<Value, T, T> reading, T byDefault, Function<SluiceConfig, T> of) {
    if (running == null) {
      return reading.apply(value, byDefault);
    }
    T before = of.apply(running);
    T now = value.isPresent() ? reading.apply(value, before) : byDefault;
    if (!now.equals(before)) {
      value.refuse(
          value.isPresent() ? now.toString() : now + " by default", before + " until a restart");
    }
    return now;
  }

  private static Tracing tracing(Value value, Tracing fallback) {
    if (!value.isPresent()) {
      return fallback;
    }
    Fields fields = value.fields("otlp", "sample");
    Value otlp = fields.required("otlp", UpstreamUrl.RULE);
    Endpoint collector = ModelsReader.endpoint(otlp, null, 1);
    Value sample = fields.optional("sample");
    return new Tracing(
        collector.equals(ModelsReader.UNREADABLE) ? fallback.collector() : collector,
        sample.isPresent()
            ? sample.scalar(SHARE_RULE, Amounts::share, fallback.sample())
            : Tracing.DEFAULT_SAMPLE);
  }

  private static ListenAddress address(Value value, ListenAddress fallback) {
    return value.scalar(ADDRESS_RULE, ListenAddress::parse, fallback);
  }

  private AccessLog accessLog(Value value, AccessLog fallback) {
    return value.scalar(
        ACCESS_LOG_RULE,
        text -> {
          if (text.equals("none")) {
            return AccessLog.NONE;
          }
          if (text.equals("stdout")) {
            return AccessLog.STDOUT;
          }
          // A bare word is rather a slip of the pen than a file.
          boolean word = text.indexOf('/') < 0 && text.indexOf('.') < 0;
          Path path = word ? null : path(text);
          return path == null ? null : AccessLog.to(path);
        },
        fallback);
  }

  private Path keys(Value value) {
    return value.scalar(
        PATH_RULE,
        text -> {
          keysFile = path(text);
          return keysFile;
        },
        file);
  }

  private @Nullable Path path(String text) {
    if (text.isEmpty() || text.chars().anyMatch(Character::isISOControl)) {
      return null;
    }
    try {
      return file.resolveSibling(text);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static HttpLimits limits(Fields fields) {
    HttpLimits defaults = HttpLimits.DEFAULT;
    return new HttpLimits(
        defaults.maxRequestLineBytes(),
        defaults.maxHeaderBytes(),
        defaults.maxHeaderCount(),
        Amounts.bytes(fields.optional("max-body-bytes"), defaults.maxBodyBytes()),
        fields
            .optional("max-connections")
            .wholeNumber(1, MAX_CONNECTIONS, defaults.maxConnections()),
        fields.optional("max-exchanges").wholeNumber(1, MAX_CONNECTIONS, defaults.maxExchanges()),
        Amounts.duration(fields.optional("head-timeout"), defaults.headTimeout()),
        Amounts.duration(fields.optional("body-timeout"), defaults.bodyTimeout()),
        defaults.keepAliveTimeout());
  }

  private static @Nullable Revoke revoke(String text) {
    return switch (text) {
      case "finish" -> Revoke.FINISH;
      case "cut" -> Revoke.CUT;
      default -> null;
    };
  }

  private Map<String, Plan> plans(Value value, Set<String> modelIds) {
    Map<String, Plan> plans = new LinkedHashMap<>();
    for (Value.Entry entry : value.someEntries(PLANS_RULE)) {
      String name =
          entry
              .key()
              .text(PLAN_NAME_RULE, text -> Names.isName(text) && !text.equals(Names.RESERVED), "");
      planNames.add(name);
      plans.put(name, plan(name, entry.value(), modelIds));
    }
    return plans;
  }

  private static Plan plan(String name, Value value, Set<String> modelIds) {
    Fields fields = value.fields("streams", "streams-per-key", "models");
    int streams =
        fields
            .required("streams", "a whole number >= 1")
            .wholeNumber(1, Integer.MAX_VALUE, Integer.MAX_VALUE);
    Value perKey = fields.optional("streams-per-key");
    int streamsPerKey =
        perKey.wholeNumber(1, Integer.MAX_VALUE, perKey.isPresent() ? 1 : Plan.UNBOUNDED);
    if (streamsPerKey > streams) {
      perKey.fault(String.valueOf(streamsPerKey), "a whole number <= streams, which is " + streams);
    }
    Set<String> ids = new HashSet<>();
    Value models = fields.required("models", PLAN_MODELS_RULE);
    for (Value item : models.someItems(PLAN_MODELS_RULE)) {
      String id = item.text(PLAN_MODELS_RULE, text -> true, Names.EVERY_MODEL);
      // Where there are no models at all, that is the fault.
      if (!id.equals(Names.EVERY_MODEL) && !modelIds.isEmpty() && !modelIds.contains(id)) {
        item.unknown(id, modelIds.stream().sorted().toList());
      }
      ids.add(id);
    }
    boolean allModels = ids.remove(Names.EVERY_MODEL);
    return new Plan(name, streams, streamsPerKey, ids, allModels);
  }
}
