package dev.sluice.message;

import static dev.sluice.message.JsonType.ARRAY;
import static dev.sluice.message.JsonType.BOOLEAN;
import static dev.sluice.message.JsonType.NULL;
import static dev.sluice.message.JsonType.OBJECT;
import static dev.sluice.message.JsonType.STRING;

import dev.sluice.error.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Holds a request body against the contract's shape of a request, in one pass over its bytes.
 *
 * <p>Time and memory are linear and bounded: no string of the body is decoded but the model's id,
 * names, and words that decide something; images are checked where they stand.
 */
public final class RequestInspector {
  /*
   * A key that decides a check and stands twice is refused, in messages, parts and images as at the
   * top level: two parsers may read two different values, and the upstream might read the one that
   * was not checked.
   *
   * Keys have no order, and what a part's other keys mean depends on its type. So the pass over a
   * part notes where the values stand, and they are looked at once the part has ended. Parts inside
   * parts make a byte be read once more for each level, hence the bound on levels.
   */

  /** Longer than the id of any configured model; the rest of a longer one is cut off. */
  private static final int MAX_MODEL_CHARS = 1_024;

  /** Longer than any type that means something here. */
  private static final int MAX_TYPE_CHARS = 64;

  /** Levels of parts: a message's, those in a tool result, those in a document therein. */
  private static final int MAX_PART_LEVELS = 4;

  /** {@link #once}: the key has not come. */
  private static final int ABSENT = -1;

  /** {@link #once}: the key came twice. */
  private static final int TWICE = -2;

  private static final byte[] USER = {'u', 's', 'e', 'r'};

  private final JsonScanner in;
  private final Operation operation;

  /** Where the messages begin that all turns of a conversation have in common, and end. */
  private int prefixStart;

  private int prefixEnd;

  /** Where the pass is, as names and indexes: {@code messages[2].content[1].source}. */
  private final String[] pathNames = new String[4 + 2 * MAX_PART_LEVELS];

  private final int[] pathIndexes = new int[pathNames.length];
  private int pathLength;

  private RequestInspector(JsonScanner in, Operation operation) {
    this.in = in;
    this.operation = operation;
  }

  /**
   * Inspects one whole body. May be called by any thread; takes 0.1 to 0.2 ms for each MB.
   *
   * @return the facts, their offsets counted from {@code offset}; or the refusal, whose reason is
   *     {@link Reason#JSON_MALFORMED}, {@link Reason#REQUEST_SHAPE} or {@link Reason#IMAGE}
   * @throws IndexOutOfBoundsException when the range is not within the array
   */
  public static Inspection inspect(byte[] body, int offset, int length, Operation operation) {
    JsonScanner in = new JsonScanner(body, offset, length);
    try {
      return new RequestInspector(in, operation).request(offset);
    } catch (Refused refused) {
      return new Refusal(refused.failure());
    }
  }

  private RequestFacts request(int offset) {
    if (in.next() != '{') {
      throw in.malformed("\"{\" of one JSON object, in UTF-8 without a byte order mark");
    }
    String model = null;
    int modelStart = 0;
    int modelEnd = 0;
    boolean stream = false;
    boolean streamSeen = false;
    boolean messagesSeen = false;
    for (boolean more = in.enter(); more; more = in.more('}')) {
      String name = in.name();
      switch (name) {
        case "model" -> {
          if (model != null) {
            throw twice(name);
          }
          expect(name, STRING, "non-empty string");
          modelStart = in.at() - offset;
          model = model();
          modelEnd = in.at() - offset;
        }
        case "stream" -> {
          if (streamSeen) {
            throw twice(name);
          }
          streamSeen = true;
          expect(name, BOOLEAN | NULL, "boolean or null");
          stream = in.next() == 't';
          in.value();
        }
        case "messages" -> {
          if (messagesSeen) {
            throw twice(name);
          }
          messagesSeen = true;
          messages();
        }
        default -> field(name);
      }
    }
    in.end();
    if (model == null) {
      throw missing("model", "non-empty string");
    }
    if (operation.messagesRequired() && !messagesSeen) {
      throw missing("messages", "non-empty array of objects");
    }
    return new RequestFacts(
        model,
        stream,
        modelStart,
        modelEnd,
        messagesSeen ? prefixStart - offset : 0,
        messagesSeen ? prefixEnd - offset : 0);
  }

  private String model() {
    in.string();
    String model = in.text(MAX_MODEL_CHARS);
    if (model.isEmpty()) {
      throw shape("model", "empty (expected: an id that GET /v1/models lists)");
    }
    for (int i = 0; i < model.length(); i++) {
      if (Character.isSurrogate(model.charAt(i))) {
        if (Character.isSurrogate((char) model.codePointAt(i))) {
          throw shape("model", "half a surrogate pair (expected: whole characters)");
        }
        i++;
      }
    }
    return model;
  }

  private void field(String name) {
    int allowed = RequestFields.types(operation.dialect(), name);
    if (allowed == 0) {
      in.value();
      return;
    }
    int type = in.value();
    if ((type & allowed) == 0) {
      throw wrongType(name, type, JsonType.words(allowed));
    }
  }

  // Messages.

  private void messages() {
    expect("messages", ARRAY, "non-empty array of objects");
    boolean more = in.enter();
    if (!more) {
      throw shape("messages", "empty (expected: at least one message)");
    }
    pushArray("messages");
    prefixStart = in.at();
    boolean userSeen = false;
    for (; more; more = in.more(']')) {
      boolean user = message();
      if (!userSeen) {
        prefixEnd = in.at();
        userSeen = user;
      }
      nextIndex();
    }
    pop();
  }

  /** Passes a message; whether its role is user. */
  private boolean message() {
    expect("", OBJECT, "object");
    boolean user = false;
    boolean roleSeen = false;
    boolean contentSeen = false;
    boolean toolCallsSeen = false;
    boolean functionCallSeen = false;
    int contentType = 0;
    boolean carriesCall = false;
    for (boolean more = in.enter(); more; more = in.more('}')) {
      String name = in.name();
      switch (name) {
        case "role" -> {
          if (roleSeen) {
            throw twice(name);
          }
          roleSeen = true;
          expect(name, STRING, "non-empty string");
          in.string();
          if (in.textStart() == in.textEnd()) {
            throw shape(name, "empty (expected: non-empty string)");
          }
          user = in.textIs(USER);
        }
        case "content" -> {
          if (contentSeen) {
            throw twice(name);
          }
          contentSeen = true;
          contentType = in.nextType();
          if (contentType == ARRAY) {
            parts(name, 1);
          } else {
            expect(name, STRING | NULL, "string or array of parts");
            in.value();
          }
        }
        case "tool_calls" -> {
          if (toolCallsSeen) {
            throw twice(name);
          }
          toolCallsSeen = true;
          expect(name, ARRAY | NULL, "array or null");
          carriesCall |= in.value() == ARRAY;
        }
        case "function_call" -> {
          if (functionCallSeen) {
            throw twice(name);
          }
          functionCallSeen = true;
          expect(name, OBJECT | NULL, "object or null");
          carriesCall |= in.value() == OBJECT;
        }
        default -> in.value();
      }
    }
    if (!roleSeen) {
      throw missing("role", "non-empty string");
    }
    if (!carriesCall && contentType == 0) {
      throw missing("content", "string or array of parts");
    }
    if (!carriesCall && contentType == NULL) {
      throw wrongType("content", NULL, "string or array of parts; null beside a tool call alone");
    }
    return user;
  }

  // Parts.

  /** Passes an array of parts, the value of the name. */
  private void parts(String name, int level) {
    if (level > MAX_PART_LEVELS) {
      throw shape(name, "parts nested too deep (expected: <= " + MAX_PART_LEVELS + " levels)");
    }
    pushArray(name);
    for (boolean more = in.enter(); more; more = in.more(']')) {
      part(level);
      nextIndex();
    }
    pop();
  }

  private void part(int level) {
    expect("", OBJECT, "object");
    String type = null;
    int text = ABSENT;
    int imageUrl = ABSENT;
    int source = ABSENT;
    int content = ABSENT;
    for (boolean more = in.enter(); more; more = in.more('}')) {
      String name = in.name();
      switch (name) {
        case "type" -> {
          if (type != null) {
            throw twice(name);
          }
          type = word(name);
        }
        case "text" -> text = once(text);
        case "image_url" -> imageUrl = once(imageUrl);
        case "source" -> source = once(source);
        case "content" -> content = once(content);
        default -> in.value();
      }
    }
    if (type == null) {
      throw missing("type", "string");
    }
    int after = in.at();
    switch (type) {
      case "text" -> {
        back("text", text, Reason.REQUEST_SHAPE);
        expect("text", STRING, "string");
      }
      case "image_url" -> {
        back("image_url", imageUrl, Reason.IMAGE);
        imageUrl();
      }
      case "image" -> {
        back("source", source, Reason.IMAGE);
        imageSource();
      }
      case "tool_result" -> nestedParts("content", content, level);
      case "document" -> documentSource(source, level);
      default -> {
        // Nobody defined it here, so nothing of it is checked.
      }
    }
    in.rewind(after);
  }

  /** The parts that another part holds, where it holds an array of them. */
  private void nestedParts(String name, int at, int level) {
    if (at == ABSENT) {
      return;
    }
    back(name, at, Reason.REQUEST_SHAPE);
    if (in.nextType() == ARRAY) {
      parts(name, level + 1);
    }
  }

  /** A document may be given as parts, images among them: {@code source.type} is "content". */
  private void documentSource(int at, int level) {
    if (at == ABSENT) {
      return;
    }
    back("source", at, Reason.REQUEST_SHAPE);
    if (in.nextType() != OBJECT) {
      return;
    }
    push("source");
    int content = ABSENT;
    for (boolean more = in.enter(); more; more = in.more('}')) {
      if (in.name().equals("content")) {
        content = once(content);
      } else {
        in.value();
      }
    }
    nestedParts("content", content, level);
    pop();
  }

  private void imageUrl() {
    expectImage("image_url", OBJECT, "object with a \"url\" of the form " + Images.URL_FORM);
    push("image_url");
    int url = ABSENT;
    for (boolean more = in.enter(); more; more = in.more('}')) {
      if (in.name().equals("url")) {
        url = once(url);
      } else {
        in.value();
      }
    }
    dataUrl("url", url);
    pop();
  }

  private void imageSource() {
    expectImage("source", OBJECT, "object");
    push("source");
    int type = ABSENT;
    int mediaType = ABSENT;
    int data = ABSENT;
    int url = ABSENT;
    for (boolean more = in.enter(); more; more = in.more('}')) {
      switch (in.name()) {
        case "type" -> type = once(type);
        case "media_type" -> mediaType = once(mediaType);
        case "data" -> data = once(data);
        case "url" -> url = once(url);
        default -> in.value();
      }
    }
    back("type", type, Reason.IMAGE);
    expectImage("type", STRING, "\"base64\"");
    switch (word("type")) {
      case "base64" -> {
        back("media_type", mediaType, Reason.IMAGE);
        expectImage("media_type", STRING, "string");
        in.string();
        refuse("media_type", Images.mediaTypeFault(in.text(Images.MAX_HEADER_CHARS + 1)));
        back("data", data, Reason.IMAGE);
        expectImage("data", STRING, "string");
        in.string();
        refuse("data", Images.base64Fault(in));
      }
      case "url" -> dataUrl("url", url);
      default ->
          refuse(
              "type", "not a way to give an image here (expected: \"base64\", the image itself)");
    }
    pop();
  }

  private void dataUrl(String name, int at) {
    back(name, at, Reason.IMAGE);
    expectImage(name, STRING, "string of the form " + Images.URL_FORM);
    in.string();
    refuse(name, Images.dataUrlFault(in));
  }

  // What the checks above are made of.

  /** Passes a string that decides what is checked. */
  private String word(String name) {
    expect(name, STRING, "string");
    in.string();
    return in.text(MAX_TYPE_CHARS);
  }

  /** Passes a value to be looked at later; where it stands, or that it stands twice. */
  private int once(int before) {
    in.next();
    int at = in.at();
    in.value();
    return before == ABSENT ? at : TWICE;
  }

  /** Goes back to a value that {@link #once} passed. */
  private void back(String name, int at, Reason reason) {
    if (at == ABSENT) {
      throw new Refused(reason, path(name) + ": missing (expected: a value)");
    }
    if (at == TWICE) {
      throw twice(name);
    }
    in.rewind(at);
  }

  private void expect(String name, int types, String expected) {
    int type = in.nextType();
    if ((type & types) == 0) {
      throw wrongType(name, type, expected);
    }
  }

  private void expectImage(String name, int types, String expected) {
    int type = in.nextType();
    if ((type & types) == 0) {
      refuse(name, JsonType.words(type) + " (expected: " + expected + ")");
    }
  }

  private void refuse(String name, @Nullable String fault) {
    if (fault != null) {
      throw new Refused(Reason.IMAGE, path(name) + ": " + fault);
    }
  }

  private Refused wrongType(String name, int type, String expected) {
    return shape(name, JsonType.words(type) + " (expected: " + expected + ")");
  }

  private Refused missing(String name, String expected) {
    return shape(name, "missing (expected: " + expected + ")");
  }

  private Refused twice(String name) {
    return shape(name, "stands twice (expected: once)");
  }

  private Refused shape(String name, String fault) {
    return new Refused(Reason.REQUEST_SHAPE, path(name) + ": " + fault);
  }

  // The path.

  /** Into an object. */
  private void push(String name) {
    pathNames[pathLength] = name;
    pathIndexes[pathLength++] = -1;
  }

  /** Into an array, at its first member. */
  private void pushArray(String name) {
    push(name);
    nextIndex();
  }

  private void pop() {
    pathLength--;
  }

  private void nextIndex() {
    pathIndexes[pathLength - 1]++;
  }

  /** The path of a name below where the pass is; of that place itself where the name is empty. */
  private String path(String name) {
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < pathLength; i++) {
      path.append(i == 0 ? "" : ".").append(pathNames[i]);
      if (pathIndexes[i] >= 0) {
        path.append('[').append(pathIndexes[i]).append(']');
      }
    }
    return path.append(path.isEmpty() || name.isEmpty() ? "" : ".").append(name).toString();
  }
}
