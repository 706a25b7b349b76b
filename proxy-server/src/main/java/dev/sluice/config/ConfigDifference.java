package dev.sluice.config;

import dev.sluice.cluster.Model;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What one configuration has otherwise than another, for people. No secret is in it. */
public final class ConfigDifference {
  private static final int MAX_NAMES = 12;

  private final List<String> parts = new ArrayList<>();

  private ConfigDifference() {}

  /**
   * In one line: {@code models added: new; plans changed: free, pro; sse-ping: none, now 15s}.
   * Models, plans and operations by name, all else with its values.
   */
  public static String between(SluiceConfig before, SluiceConfig after) {
    ConfigDifference difference = new ConfigDifference();
    difference.models(before.models(), after.models());
    difference.named("plans", before.plans(), after.plans());
    difference.named(
        "operations",
        byName(before.operations(), Operation::path),
        byName(after.operations(), Operation::path));
    difference.limits(before.limits(), after.limits());
    difference.value("keys", before, after, SluiceConfig::keysFile);
    difference.value("sse-ping", before, after, config -> orNone(config.ssePing()));
    difference.value("revoke", before, after, config -> config.revoke().text());
    if (!Objects.equals(before.adminToken(), after.adminToken())) {
      difference.parts.add("admin-token-env: another token");
    }
    difference.value(
        "shutdown-grace", before, after, config -> Amounts.text(config.shutdownGrace()));
    return difference.parts.isEmpty() ? "nothing differs" : String.join("; ", difference.parts);
  }

  static String orNone(Duration ping) {
    return ping.equals(SluiceConfig.NO_PING) ? "none" : Amounts.text(ping);
  }

  private void models(List<Model> before, List<Model> after) {
    int known = parts.size();
    named("models", byName(before, Model::id), byName(after, Model::id));
    if (parts.size() == known && !before.equals(after)) {
      parts.add("models: in another order");
    }
  }

  private static <T> Map<String, T> byName(Collection<T> items, Function<T, String> name) {
    Map<String, T> named = new LinkedHashMap<>();
    items.forEach(item -> named.put(name.apply(item), item));
    return named;
  }

  private void named(String what, Map<String, ?> before, Map<String, ?> after) {
    names(what + " added", after.keySet().stream().filter(name -> !before.containsKey(name)));
    names(what + " removed", before.keySet().stream().filter(name -> !after.containsKey(name)));
    names(
        what + " changed",
        after.entrySet().stream()
            .filter(entry -> before.containsKey(entry.getKey()))
            .filter(entry -> !entry.getValue().equals(before.get(entry.getKey())))
            .map(Map.Entry::getKey));
  }

  private void names(String what, Stream<String> names) {
    List<String> all = names.toList();
    if (!all.isEmpty()) {
      String shown = String.join(", ", all.subList(0, Math.min(all.size(), MAX_NAMES)));
      int more = all.size() - MAX_NAMES;
      parts.add(what + ": " + shown + (more > 0 ? " and " + more + " more" : ""));
    }
  }

  private void limits(HttpLimits before, HttpLimits after) {
    value("limits.max-body-bytes", before, after, limits -> Amounts.text(limits.maxBodyBytes()));
    value("limits.max-connections", before, after, HttpLimits::maxConnections);
    value("limits.max-exchanges", before, after, HttpLimits::maxExchanges);
    value("limits.head-timeout", before, after, limits -> Amounts.text(limits.headTimeout()));
    value("limits.body-timeout", before, after, limits -> Amounts.text(limits.bodyTimeout()));
  }

  private <T> void value(String name, T before, T after, Function<T, @Nullable Object> of) {
    String was = String.valueOf(of.apply(before));
    String is = String.valueOf(of.apply(after));
    if (!was.equals(is)) {
      parts.add(name + ": " + was + ", now " + is);
    }
  }
}
