package dev.sluice.yaml;

import java.util.Map;

/** The values of a map whose names are fixed. */
public final class Fields {
  private final Value owner;
  private final Map<String, Value> values;
  private final boolean readable;

  Fields(Value owner, Map<String, Value> values, boolean readable) {
    this.owner = owner;
    this.values = values;
    this.readable = readable;
  }

  /** The value of that name; absent where there is none, and then a fault of the map is noted. */
  public Value required(String name, String expected) {
    Value value = values.get(name);
    if (value != null) {
      return value;
    }
    Value absent = owner.absent(name);
    if (readable) {
      owner.missing(absent.name(), expected);
    }
    return absent;
  }

  /** The value of that name; absent where there is none. */
  public Value optional(String name) {
    Value value = values.get(name);
    return value != null ? value : owner.absent(name);
  }
}
