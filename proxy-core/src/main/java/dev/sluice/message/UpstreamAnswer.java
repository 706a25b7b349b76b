package dev.sluice.message;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks at whole answer bodies of an upstream. For any thread; no bytes make it throw. */
public final class UpstreamAnswer {

  /** The most characters of an upstream's message that are passed on. */
  public static final int MAX_MESSAGE_CHARS = 500;

  private static final long USAGE = Usage.Members.hash("usage");

  private UpstreamAnswer() {}

  /**
   * Reads an answer, which must be one JSON document in valid UTF-8 with nothing after it but white
   * space, within the bounds that hold for requests too.
   *
   * @return what its member {@code usage} says; empty where it is not such a document
   * @throws IndexOutOfBoundsException when the range is not within the array
   */
  public static Optional<Usage> read(byte[] body, int offset, int length) {
    JsonScanner in = new JsonScanner(body, offset, length);
    Usage.Members members = new Usage.Members();
    try {
      if (in.nextType() != JsonType.OBJECT) {
        in.value();
      } else {
        for (boolean more = in.enter(); more; more = in.more('}')) {
          if (in.nameHash() == USAGE && in.nextType() == JsonType.OBJECT) {
            usage(in, members);
          } else {
            in.value();
          }
        }
      }
      in.end();
      return Optional.of(members.usage());
    } catch (Refused refused) {
      return Optional.empty();
    }
  }

  private static void usage(JsonScanner in, Usage.Members members) {
    for (boolean more = in.enter(); more; more = in.more('}')) {
      long name = in.nameHash();
      if (in.nextType() == JsonType.NUMBER) {
        members.put(name, in.wholeNumber());
      } else {
        in.value();
      }
    }
  }

  /**
   * The words of an upstream's error body, where it has some: {@code error.message}, {@code error},
   * {@code message}, {@code detail} or {@code detail[0].msg}, the first of these that is a string
   * with something in it. A body that breaks off later still has its words.
   *
   * @return at most {@value #MAX_MESSAGE_CHARS} characters, without control characters; null where
   *     there are none
   * @throws IndexOutOfBoundsException when the range is not within the array
   */
  public static @Nullable String errorMessage(byte[] body, int offset, int length) {
    JsonScanner in = new JsonScanner(body, offset, length);
    @Nullable String[] found = new @Nullable String[3];
    try {
      if (in.next() != '{') {
        return null;
      }
      for (boolean more = in.enter(); more; more = in.more('}')) {
        switch (in.name()) {
          case "error" -> words(in, "message", found, 0);
          case "message" -> words(in, "message", found, 1);
          case "detail" -> words(in, "msg", found, 2);
          default -> in.value();
        }
      }
    } catch (Refused refused) {
      // What was found before the body broke off is still the upstream's message.
    }
    for (String message : found) {
      if (message != null) {
        return message;
      }
    }
    return null;
  }

  /** Passes a value; keeps it where it is a string, or else the first string of that name in it. */
  private static void words(JsonScanner in, String name, @Nullable String[] found, int index) {
    switch (in.nextType()) {
      case JsonType.STRING -> {
        in.string();
        String text = printable(in.text(MAX_MESSAGE_CHARS));
        if (found[index] == null && !text.isEmpty()) {
          found[index] = text;
        }
      }
      case JsonType.OBJECT -> {
        for (boolean more = in.enter(); more; more = in.more('}')) {
          if (in.name().equals(name) && in.nextType() == JsonType.STRING) {
            words(in, name, found, index);
          } else {
            in.value();
          }
        }
      }
      case JsonType.ARRAY -> {
        for (boolean more = in.enter(); more; more = in.more(']')) {
          words(in, name, found, index);
        }
      }
      default -> in.value();
    }
  }

  private static String printable(String text) {
    StringBuilder printable = new StringBuilder(text.length());
    text.codePoints().map(c -> isUnprintable(c) ? ' ' : c).forEach(printable::appendCodePoint);
    return printable.toString().strip();
  }

  /** Controls, line separators, halves of surrogate pairs. */
  private static boolean isUnprintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }
}
