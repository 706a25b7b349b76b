package dev.sluice.yaml;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Turns the bytes of one YAML document into nodes. */
final class TreeReader {
  /*
   * Built from the parser's events with a stack of its own, not with the library's composer: that
   * one recurses, without a bound, into what is nested; and it keeps a reference to the whole text
   * in every node.
   *
   * An anchor is known from the end of its value on, so no value can hold itself. Aliases of lists
   * and maps are few, and a reader of nodes follows a fixed form, so a small file cannot grow into
   * a large one.
   */
  static final int MAX_DEPTH = 16;
  static final int MAX_COLLECTION_ALIASES = 50;

  private static final LoadSettings SETTINGS =
      LoadSettings.builder().setUseMarks(true).setCodePointLimit(YamlFile.MAX_BYTES).build();

  private final Faults faults;
  private final Map<Anchor, Node> anchors = new HashMap<>();
  private final Deque<Open> open = new ArrayDeque<>();
  private int collectionAliases;
  private @Nullable Node root;

  TreeReader(Faults faults) {
    this.faults = faults;
  }

  /** A list or map whose end has not come; a map's children are keys and values in turn. */
  private record Open(
      boolean mapping, int line, int column, Optional<Anchor> anchor, List<Node> children) {}

  /** The document, or null where it cannot be read; faults tell why. */
  @Nullable Node read(byte[] contents) {
    String text = decode(contents);
    if (text == null) {
      return null;
    }
    try {
      for (Event event : new Parse(SETTINGS).parseString(text)) {
        if (!accept(event)) {
          return null;
        }
      }
    } catch (MarkedYamlEngineException e) {
      syntax(e);
      return null;
    } catch (ReaderException e) {
      unprintable(text, e);
      return null;
    } catch (YamlEngineException e) {
      faults.add(String.valueOf(e.getMessage()), "YAML");
      return null;
    }
    if (root == null) {
      faults.add("empty", "a YAML document");
    }
    return root;
  }

  /** Takes the next event; false where reading ends at a fault. */
  private boolean accept(Event event) {
    int line = event.getStartMark().map(mark -> mark.getLine() + 1).orElse(0);
    int column = event.getStartMark().map(mark -> mark.getColumn() + 1).orElse(0);
    switch (event.getEventId()) {
      case DocumentStart -> {
        if (root != null) {
          faults.add(line, column, "", "a second document", "one document");
          return false;
        }
      }
      case Scalar -> {
        ScalarEvent scalar = (ScalarEvent) event;
        refuseTag(line, column, scalar.getTag());
        boolean plain = scalar.getScalarStyle() == ScalarStyle.PLAIN;
        add(new Node.Scalar(line, column, scalar.getValue(), plain), scalar.getAnchor());
      }
      case Alias -> {
        return alias(line, column, ((AliasEvent) event).getAlias());
      }
      case SequenceStart, MappingStart -> {
        CollectionStartEvent start = (CollectionStartEvent) event;
        refuseTag(line, column, start.getTag());
        if (open.size() == MAX_DEPTH) {
          faults.add(
              line, column, "", "nested deeper", "at most " + MAX_DEPTH + " lists and maps deep");
          return false;
        }
        boolean mapping = event.getEventId() == Event.ID.MappingStart;
        open.push(new Open(mapping, line, column, start.getAnchor(), new ArrayList<>()));
      }
      case SequenceEnd, MappingEnd -> {
        Open ended = open.pop();
        add(close(ended), ended.anchor());
      }
      default -> {}
    }
    return true;
  }

  private boolean alias(int line, int column, Anchor anchor) {
    Node node = anchors.get(anchor);
    if (node == null) {
      faults.add(line, column, "", "*" + anchor.getValue(), "the name of an anchor above");
      node = new Node.Unreadable(line, column);
    } else if (!(node instanceof Node.Scalar) && ++collectionAliases > MAX_COLLECTION_ALIASES) {
      faults.add(
          line,
          column,
          "",
          "one alias more",
          "at most " + MAX_COLLECTION_ALIASES + " aliases of lists and maps");
      return false;
    }
    add(node, Optional.empty());
    return true;
  }

  private void add(Node node, Optional<Anchor> anchor) {
    anchor.ifPresent(name -> anchors.put(name, node));
    Open parent = open.peek();
    if (parent == null) {
      root = node;
    } else {
      parent.children().add(node);
    }
  }

  private Node close(Open ended) {
    if (!ended.mapping()) {
      return new Node.Sequence(ended.line(), ended.column(), List.copyOf(ended.children()));
    }
    List<Node.Pair> pairs = new ArrayList<>();
    Map<String, Node> first = new HashMap<>();
    for (int i = 0; i + 1 < ended.children().size(); i += 2) {
      Node key = ended.children().get(i);
      if (!(key instanceof Node.Scalar name)) {
        faults.add(key.line(), key.column(), "", "a list or map as a name", "text as a name");
        continue;
      }
      Node before = first.putIfAbsent(name.text(), name);
      if (before == null) {
        pairs.add(new Node.Pair(name, ended.children().get(i + 1)));
      } else {
        faults.add(
            name.line(),
            name.column(),
            name.text(),
            "stands twice",
            "once; it is on line " + before.line() + " too");
      }
    }
    return new Node.Mapping(ended.line(), ended.column(), pairs);
  }

  private void refuseTag(int line, int column, Optional<String> tag) {
    tag.ifPresent(name -> faults.add(line, column, "", "the tag " + name, "no tag"));
  }

  private @Nullable String decode(byte[] contents) {
    CharBuffer text = CharBuffer.allocate(contents.length);
    ByteBuffer bytes = ByteBuffer.wrap(contents);
    boolean malformed =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT)
            .decode(bytes, text, true)
            .isError();
    if (malformed) {
      int line = 1;
      int column = 1;
      for (int i = 0; i < bytes.position(); i++) {
        boolean end = contents[i] == '\n';
        line += end ? 1 : 0;
        column = end ? 1 : column + 1;
      }
      faults.add(line, column, "", "bytes that are not UTF-8", "UTF-8");
      return null;
    }
    String decoded = text.flip().toString();
    return decoded.startsWith("\ufeff") ? decoded.substring(1) : decoded;
  }

  private void syntax(MarkedYamlEngineException e) {
    Optional<Mark> mark = e.getProblemMark().or(e::getContextMark);
    int line = mark.map(place -> place.getLine() + 1).orElse(0);
    int column = mark.map(place -> place.getColumn() + 1).orElse(0);
    String problem = e.getProblem() == null ? "bad syntax" : e.getProblem();
    faults.add(line, column, "", problem + ", at column " + column, "YAML");
  }

  private void unprintable(String text, ReaderException e) {
    int line = 1;
    int[] before = text.codePoints().limit(e.getPosition()).toArray();
    for (int codePoint : before) {
      line += codePoint == '\n' ? 1 : 0;
    }
    faults.add(
        line,
        1,
        "",
        String.format(Locale.ROOT, "the character U+%04X", e.getCodePoint()),
        "printable text");
  }
}
