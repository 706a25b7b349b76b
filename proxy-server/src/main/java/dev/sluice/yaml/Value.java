package dev.sluice.yaml;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A value of a YAML file, which knows its place and its dotted name. Not safe for threads.
 *
 * <p>A value is read by asking for what is expected. What stands there instead is noted as a fault,
 * and the fallback is returned, so that reading goes on and finds the other faults too. An absent
 * value gives the fallback without a fault.
 */
public final class Value {
  private static final Pattern WHOLE_NUMBER = Pattern.compile("0|-?[1-9][0-9]{0,17}");

  /** Suggestions cost a pass over all names: a file full of faults gets only so many. */
  private static final int MAX_FAULTS_WITH_SUGGESTION = 100;

  private static final int MAX_NAMES_LISTED = 20;

  private final Faults faults;
  private final String name;
  private final @Nullable Node node;

  /** The value itself, or what is nearest above it where it is absent. */
  private final Node place;

  Value(Faults faults, String name, Node node) {
    this(faults, name, node, node);
  }

  private Value(Faults faults, String name, @Nullable Node node, Node place) {
    this.faults = faults;
    this.name = name;
    this.node = node;
    this.place = place;
  }

  /**
   * A name that the file gives, and its value.
   *
   * @param key the name, itself a value that can be at fault
   * @param value what stands behind it
   */
  public record Entry(Value key, Value value) {}

  /** The dotted name, as in {@code plans.free.streams}; empty for the whole document. */
  public String name() {
    return name;
  }

  /** Whether anything stands there. */
  public boolean isPresent() {
    return node != null;
  }

  /** Notes a fault of this value. */
  public void fault(String found, String expected) {
    if (node != null) {
      faults.add(node.line(), node.column(), name, found, expected);
    }
  }

  /** Notes a fault of this value, or of what its absence means: that has the place above it. */
  public void refuse(String found, String expected) {
    faults.add(place.line(), place.column(), name, found, expected);
  }

  /** Notes that this value names something that is not known, and suggests the nearest name. */
  public void unknown(String found, Collection<String> known) {
    unknown(found, found, known);
  }

  private void unknown(String wanted, String found, Collection<String> known) {
    StringBuilder expected = new StringBuilder("one of ");
    expected.append(String.join(", ", known.stream().limit(MAX_NAMES_LISTED).toList()));
    if (known.isEmpty()) {
      expected.setLength(0);
      expected.append("a known name, but there is none");
    } else if (known.size() > MAX_NAMES_LISTED) {
      expected.append(", …");
    }
    if (faults.size() < MAX_FAULTS_WITH_SUGGESTION) {
      Nearest.to(wanted, known)
          .ifPresent(near -> expected.append("; did you mean ").append(near).append('?'));
    }
    fault(found, expected.toString());
  }

  /** This value as a map with these names and no others. */
  public Fields fields(String... known) {
    Map<String, Value> values = new HashMap<>();
    String expected = "a map with " + String.join(", ", known);
    if (!(node instanceof Node.Mapping mapping)) {
      wrongKind(expected);
      return new Fields(this, values, false);
    }
    List<String> names = Arrays.asList(known);
    for (Node.Pair pair : mapping.pairs()) {
      String key = pair.key().text();
      if (names.contains(key)) {
        values.put(key, new Value(faults, child(key), pair.value()));
      } else {
        new Value(faults, child(key), pair.key()).unknown(key, "unknown name", names);
      }
    }
    return new Fields(this, values, true);
  }

  /** This value as a map whose names the file gives, in the order of the file. */
  public List<Entry> entries(String expected) {
    List<Entry> entries = new ArrayList<>();
    if (node instanceof Node.Mapping mapping) {
      for (Node.Pair pair : mapping.pairs()) {
        entries.add(
            new Entry(
                new Value(faults, name, pair.key()),
                new Value(faults, child(pair.key().text()), pair.value())));
      }
    } else {
      wrongKind(expected);
    }
    return entries;
  }

  /** This value as a map with at least one name, in the order of the file. */
  public List<Entry> someEntries(String expected) {
    List<Entry> entries = entries(expected);
    if (entries.isEmpty() && node instanceof Node.Mapping) {
      fault("an empty map", expected);
    }
    return entries;
  }

  /** This value as a list. */
  public List<Value> items(String expected) {
    List<Value> items = new ArrayList<>();
    if (node instanceof Node.Sequence sequence) {
      for (Node item : sequence.items()) {
        items.add(new Value(faults, name + "[" + items.size() + "]", item));
      }
    } else {
      wrongKind(expected);
    }
    return items;
  }

  /** This value as a list with at least one item. */
  public List<Value> someItems(String expected) {
    List<Value> items = items(expected);
    if (items.isEmpty() && node instanceof Node.Sequence) {
      fault("an empty list", expected);
    }
    return items;
  }

  /** This value as text that {@code rule} accepts. */
  public String text(String expected, Predicate<String> rule, String fallback) {
    return scalar(expected, text -> rule.test(text) ? text : null, fallback);
  }

  /**
   * This value as text that {@code parse} can turn into something; null from it is a fault that
   * quotes the text.
   */
  public <T> T scalar(String expected, Function<String, @Nullable T> parse, T fallback) {
    if (!(node instanceof Node.Scalar scalar) || scalar.isNull()) {
      wrongKind(expected);
      return fallback;
    }
    T parsed = parse.apply(scalar.text());
    if (parsed == null) {
      fault(quoted(scalar), expected);
      return fallback;
    }
    return parsed;
  }

  /** This value as a whole number from {@code min} to {@code max}, without quotes. */
  public int wholeNumber(int min, int max, int fallback) {
    String expected = "a whole number >= " + min;
    if (!(node instanceof Node.Scalar scalar) || scalar.isNull()) {
      wrongKind(expected);
      return fallback;
    }
    if (!scalar.plain() || !WHOLE_NUMBER.matcher(scalar.text()).matches()) {
      boolean large = scalar.plain() && scalar.text().matches("[1-9][0-9]+");
      fault(quoted(scalar), large ? "a whole number <= " + max : expected);
      return fallback;
    }
    long number = Long.parseLong(scalar.text());
    if (number < min || number > max) {
      fault(scalar.text(), number < min ? expected : "a whole number <= " + max);
      return fallback;
    }
    return (int) number;
  }

  /** This value as {@code true} or {@code false}, without quotes. */
  public boolean flag(boolean fallback) {
    String expected = "true or false";
    if (!(node instanceof Node.Scalar scalar) || scalar.isNull()) {
      wrongKind(expected);
      return fallback;
    }
    if (scalar.plain() && scalar.text().equals("true")) {
      return true;
    }
    if (!scalar.plain() || !scalar.text().equals("false")) {
      fault(quoted(scalar), expected);
      return fallback;
    }
    return false;
  }

  Value absent(String field) {
    return new Value(faults, child(field), null, place);
  }

  void missing(String field, String expected) {
    if (node != null) {
      faults.add(node.line(), node.column(), field, "missing", expected);
    }
  }

  private String child(String field) {
    return name.isEmpty() ? field : name + "." + field;
  }

  private void wrongKind(String expected) {
    if (node instanceof Node.Scalar scalar) {
      // What the text is, is not said: it may be a secret in the wrong place.
      fault(scalar.isNull() ? "nothing" : "text", expected);
    } else if (node instanceof Node.Sequence) {
      fault("a list", expected);
    } else if (node instanceof Node.Mapping) {
      fault("a map", expected);
    }
  }

  private static String quoted(Node.Scalar scalar) {
    return scalar.plain() ? scalar.text() : '"' + scalar.text() + '"';
  }
}
