package dev.sluice.testing;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON as maps, lists, strings, numbers, booleans and nulls. */
public final class Json {
  private static final JsonFactory FACTORY = new JsonFactory();

  private Json() {}

  /**
   * The one object that a text holds.
   *
   * @throws AssertionError when it is not exactly one JSON object
   */
  public static Map<String, Object> object(String text) {
    try (JsonParser parser = FACTORY.createParser(text)) {
      parser.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new AssertionError("not a JSON object: " + text);
      }
      Map<String, Object> object = objectAt(parser);
      if (parser.nextToken() != null) {
        throw new AssertionError("more than one JSON object: " + text);
      }
      return object;
    } catch (IOException e) {
      throw new AssertionError("not JSON: " + text, e);
    }
  }

  /** The object under a name of an object. */
  @SuppressWarnings("unchecked")
  public static Map<String, Object> object(Map<String, Object> in, String name) {
    if (in.get(name) instanceof Map<?, ?> map) {
      return (Map<String, Object>) map;
    }
    throw new AssertionError(name + ": " + in.get(name) + " (expected: an object)");
  }

  /** The array of objects under a name of an object. */
  @SuppressWarnings("unchecked")
  public static List<Map<String, Object>> objects(Map<String, Object> in, String name) {
    if (in.get(name) instanceof List<?> list) {
      return (List<Map<String, Object>>) list;
    }
    throw new AssertionError(name + ": " + in.get(name) + " (expected: an array)");
  }

  private static Map<String, Object> objectAt(JsonParser parser) throws IOException {
    Map<String, Object> object = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      put(object, name, valueAt(parser));
    }
    return object;
  }

  @SuppressWarnings("NullAway") // JSON null is kept as null
  private static void put(Map<String, Object> object, String name, @Nullable Object value) {
    object.put(name, value);
  }

  @SuppressWarnings("NullAway") // JSON null is kept as null
  private static List<Object> arrayAt(JsonParser parser) throws IOException {
    List<Object> array = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      array.add(valueAt(parser));
    }
    return array;
  }

  private static @Nullable Object valueAt(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> objectAt(parser);
      case START_ARRAY -> arrayAt(parser);
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new AssertionError(parser.currentToken());
    };
  }
}
