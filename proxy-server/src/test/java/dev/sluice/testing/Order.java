package dev.sluice.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One request to a {@link FaultyUpstream} and the whole of its answer: caller and upstream know
 * every byte of it.
 *
 * @param id tells this answer from every other
 * @param messages whether it is asked on {@code /v1/messages}, else on {@code /v1/chat/completions}
 * @param stream whether the answer is a stream
 * @param events how many events the stream has before its terminator
 * @param gapMillis how long the upstream waits before each event but the first, or before an answer
 *     that is no stream
 * @param bytes how much padding each event or the answer has
 */
public record Order(
    String id, boolean messages, boolean stream, int events, int gapMillis, int bytes) {
  private static final Pattern WORDS = Pattern.compile("order (\\S+) (\\d+) (\\d+) (\\d+)\"");

  /** Reads the order back from a request. */
  static Order of(String path, String body) {
    Matcher words = WORDS.matcher(body);
    if (!words.find()) {
      throw new AssertionError("no order: " + body.substring(0, Math.min(body.length(), 1000)));
    }
    return new Order(
        words.group(1),
        path.equals("/v1/messages"),
        body.contains("\"stream\":true"),
        Integer.parseInt(words.group(2)),
        Integer.parseInt(words.group(3)),
        Integer.parseInt(words.group(4)));
  }

  /** The path that it is sent to. */
  public String path() {
    return messages ? "/v1/messages" : "/v1/chat/completions";
  }

  /** The request for it. */
  public Request request(String model, String key) {
    return request(model, key, 0);
  }

  /** The request for it, with that many bytes in its body that say nothing. */
  public Request request(String model, String key, int padding) {
    String words = "order " + id + " " + events + " " + gapMillis + " " + bytes;
    return Request.post(
            path(),
            "{\"model\":\""
                + model
                + "\",\"messages\":[{\"role\":\"user\",\"content\":\""
                + words
                + "\"}],\"stream\":"
                + stream
                + (padding == 0 ? "" : ",\"padding\":\"" + "x".repeat(padding) + "\"")
                + "}")
        .key(key);
  }

  /** The event of that number, from 0. */
  public String event(int number) {
    String data =
        "{\"type\":\"content_block_delta\",\"id\":\""
            + id
            + "\",\"n\":"
            + number
            + ",\"text\":\""
            + "x".repeat(bytes)
            + "\"}\n\n";
    return (messages ? "event: content_block_delta\ndata: " : "data: ") + data;
  }

  /** What ends the stream. */
  public String terminator() {
    return messages
        ? "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
        : "data: [DONE]\n\n";
  }

  /** The whole body of the answer. */
  public String whole() {
    if (!stream) {
      return "{\"id\":\"" + id + "\",\"text\":\"" + "x".repeat(bytes) + "\"}";
    }
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < events; i++) {
      all.append(event(i));
    }
    return all.append(terminator()).toString();
  }
}
