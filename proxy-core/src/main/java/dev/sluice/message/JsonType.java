package dev.sluice.message;

import java.util.ArrayList;
import java.util.List;

/** The types of JSON values as bits, so that a field's allowed types are one {@code int}. */
final class JsonType {
  static final int STRING = 1;

  /** A number without a fraction: {@code 1}, and {@code 1.0} and {@code 1e2} too. */
  static final int INTEGER = 1 << 1;

  /** A number with a fraction. */
  static final int FRACTION = 1 << 2;

  static final int NUMBER = INTEGER | FRACTION;
  static final int BOOLEAN = 1 << 3;
  static final int NULL = 1 << 4;
  static final int OBJECT = 1 << 5;
  static final int ARRAY = 1 << 6;

  private JsonType() {}

  /** The types in words, as in {@code string, array or null}. */
  static String words(int types) {
    List<String> words = new ArrayList<>();
    add(words, types, STRING, "string");
    if ((types & NUMBER) != INTEGER) {
      add(words, types, NUMBER, "number");
    }
    add(words, (types & NUMBER) == INTEGER ? types : 0, INTEGER, "integer");
    add(words, types, BOOLEAN, "boolean");
    add(words, types, OBJECT, "object");
    add(words, types, ARRAY, "array");
    add(words, types, NULL, "null");
    int last = words.size() - 1;
    return last < 1
        ? String.join("", words)
        : String.join(", ", words.subList(0, last)) + " or " + words.get(last);
  }

  private static void add(List<String> words, int types, int type, String word) {
    if ((types & type) != 0) {
      words.add(word);
    }
  }
}
