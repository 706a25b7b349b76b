package dev.sluice.yaml;

import java.util.List;

/** One value of a YAML file and where it begins; lines and columns count from 1. */
sealed interface Node {
  int line();

  int column();

  /** A scalar; {@code plain} where it stands without quotes. */
  record Scalar(int line, int column, String text, boolean plain) implements Node {
    boolean isNull() {
      return plain
          && (text.isEmpty()
              || text.equals("~")
              || text.equals("null")
              || text.equals("Null")
              || text.equals("NULL"));
    }
  }

  /** A list. */
  record Sequence(int line, int column, List<Node> items) implements Node {}

  /** A map; every key is a scalar and stands once. */
  record Mapping(int line, int column, List<Pair> pairs) implements Node {}

  /** A value whose fault is already noted: nothing more is said of it. */
  record Unreadable(int line, int column) implements Node {}

  /** A key and its value. */
  record Pair(Scalar key, Node value) {}
}
