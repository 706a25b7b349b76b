package dev.sluice.config;

import dev.sluice.message.Dialect;
import dev.sluice.message.Operation;
import dev.sluice.yaml.Fields;
import dev.sluice.yaml.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Reads {@code operations}: paths that are served beside the built-in ones. */
final class OperationsReader {
  private static final String RULE = "a map from paths, as in /v1/embeddings, to {messages: false}";
  private static final String PATH_RULE =
      "/v1/ and then letters, digits, . _ ~ - and single slashes, at most 128 characters";
  private static final String PREFIX = "/v1/";
  private static final String MODELS = "/v1/models";
  private static final String MODELS_NAME = "models";
  private static final int MAX_PATH_CHARACTERS = 128;
  private static final Pattern PATH = Pattern.compile("/v1(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)+");

  private OperationsReader() {}

  /** The built-in operations, then the configured ones. */
  static List<Operation> operations(Value value) {
    List<Operation> operations = new ArrayList<>(Operation.BUILT_IN);
    for (Value.Entry entry : value.entries(RULE)) {
      String path = entry.key().text(PATH_RULE, OperationsReader::isPath, PREFIX);
      Fields fields = entry.value().fields("messages");
      boolean messages = fields.required("messages", "true or false").flag(false);
      Operation added = new Operation(name(path), path, Dialect.OTHER, messages);
      if (!path.equals(PREFIX) && isFree(added, operations, entry.key())) {
        operations.add(added);
      }
    }
    return operations;
  }

  private static boolean isPath(String path) {
    return path.length() <= MAX_PATH_CHARACTERS && PATH.matcher(path).matches();
  }

  private static boolean isFree(Operation added, List<Operation> operations, Value key) {
    if (added.path().equals(MODELS) || added.path().startsWith(MODELS + "/")) {
      key.fault(added.path(), "a path other than " + MODELS + ", which lists the models");
      return false;
    }
    if (added.name().equals(Names.RESERVED) || added.name().equals(MODELS_NAME)) {
      key.fault(added.path(), "a path whose name in metrics is not " + added.name());
      return false;
    }
    for (Operation other : operations) {
      if (other.path().equals(added.path())) {
        key.fault(added.path(), "a path that is not built in");
        return false;
      }
      if (other.name().equals(added.name())) {
        key.fault(
            added.path(),
            "a path whose name in metrics, " + added.name() + ", is not that of " + other.path());
        return false;
      }
    }
    return true;
  }

  /**
   * What follows {@code /v1/}, in lower case, each character but letters and digits as {@code _}.
   */
  private static String name(String path) {
    return path.substring(PREFIX.length()).toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "_");
  }
}
