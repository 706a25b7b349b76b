package dev.sluice.demo;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What the demo upstream says to one request.
 *
 * @param id the part of the answer's id after its prefix
 * @param created when it was made, in seconds since the epoch
 * @param request what it answers
 * @param words its text, word by word; at least one
 * @param cut whether the bound on words ended it before its end
 */
record DemoAnswer(String id, long created, DemoRequest request, List<String> words, boolean cut) {
  private static final int MAX_QUOTED_WORDS = 30;

  static DemoAnswer to(DemoRequest request) {
    List<String> words = words(text(request));
    boolean cut = words.size() > request.maxWords();
    return new DemoAnswer(
        String.format(Locale.ROOT, "%016x", ThreadLocalRandom.current().nextLong()),
        Instant.now().getEpochSecond(),
        request,
        cut ? List.copyOf(words.subList(0, request.maxWords())) : words,
        cut);
  }

  private static String text(DemoRequest request) {
    return quote(request.lastUserText())
        + switch (request.images()) {
          case 0 -> " No image came with it.";
          case 1 -> " 1 image came with it.";
          default -> " " + request.images() + " images came with it.";
        }
        + " I am the demo upstream: there is no model behind me, and I send one word at a time"
        + " so that you can watch a stream on its way.";
  }

  private static String quote(String text) {
    List<String> words = words(text);
    if (words.isEmpty()) {
      return "You said nothing in words.";
    }
    return words.size() <= MAX_QUOTED_WORDS
        ? "You said: “" + String.join(" ", words) + "”."
        : "You said: “" + String.join(" ", words.subList(0, MAX_QUOTED_WORDS)) + " …”.";
  }

  /** The words of a text, as white space parts them. */
  static List<String> words(String text) {
    String stripped = text.strip();
    return stripped.isEmpty() ? List.of() : List.of(stripped.split("\\s+"));
  }

  String text() {
    return String.join(" ", words);
  }

  /** A word as its stream carries it, so that all deltas together are the text. */
  String delta(int index) {
    return index == 0 ? words.get(0) : " " + words.get(index);
  }
}
