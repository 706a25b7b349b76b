package dev.sluice.openapi;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The document as maps, lists and scalars. */
public final class OpenApiDocument {
  /** Where it is in the jar. */
  public static final String RESOURCE = "/openapi.yaml";

  private final Map<String, Object> root;

  /** Reads it from the class path. */
  public OpenApiDocument() {
    try (InputStream yaml = OpenApiDocument.class.getResourceAsStream(RESOURCE)) {
      LoadSettings settings = LoadSettings.builder().setAllowDuplicateKeys(false).build();
      root = map(new Load(settings).loadFromInputStream(Objects.requireNonNull(yaml)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The whole of it. */
  public Map<String, Object> root() {
    return root;
  }

  /** The object at a path of names; references on the way are followed. */
  public Map<String, Object> at(String... names) {
    Map<String, Object> at = root;
    for (String name : names) {
      at = child(at, name);
    }
    return at;
  }

  /** The object under a name, or what it refers to. */
  public Map<String, Object> child(Map<String, Object> parent, String name) {
    Object value = parent.get(name);
    if (value == null) {
      throw new AssertionError(name + ": missing (expected: one of " + parent.keySet() + ")");
    }
    return resolve(map(value));
  }

  /** The object itself, or what it refers to. */
  public Map<String, Object> resolve(Map<String, Object> object) {
    return object.get("$ref") instanceof String reference ? referent(reference) : object;
  }

  private Map<String, Object> referent(String reference) {
    if (!reference.startsWith("#/")) {
      throw new AssertionError("$ref: " + reference + " (expected: into this document)");
    }
    return at(reference.substring(2).split("/", -1));
  }

  /** A value that must be an object. */
  @SuppressWarnings("unchecked") // names in this document are strings
  public static Map<String, Object> map(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return (Map<String, Object>) map;
    }
    throw new AssertionError(value + " (expected: an object)");
  }
}
