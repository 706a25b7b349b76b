package dev.sluice.exchange;

import dev.sluice.message.Dialect;
import dev.sluice.message.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Writes streams of events as an upstream might, well-formed but ugly. */
final class SseWire {
  private static final String[] LINE_ENDS = {"\n", "\r\n", "\r"};

  private SseWire() {}

  /** The head of a 200 with an event stream and these header lines. */
  static String head(String... lines) {
    StringBuilder head =
        new StringBuilder("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n");
    for (String line : lines) {
      head.append(line).append("\r\n");
    }
    return head.append("\r\n").toString();
  }

  /** The event that ends a whole stream of this operation; nothing where there is none. */
  static String terminator(Operation operation, String lineEnd) {
    return switch (operation.dialect()) {
      case CHAT_COMPLETIONS -> "data: [DONE]" + lineEnd + lineEnd;
      case MESSAGES -> "event: message_stop" + lineEnd + "data: {}" + lineEnd + lineEnd;
      case OTHER -> "";
    };
  }

  /** As above, with any line ends, and with or without the space that may be left out. */
  static String randomTerminator(Operation operation, Random random) {
    String terminator = terminator(operation, LINE_ENDS[random.nextInt(3)]);
    return random.nextBoolean() ? terminator : terminator.replaceFirst(": ", ":");
  }

  /** Whether the event of the operation's terminator has ended in these bytes. */
  static boolean isTerminated(String payload, Operation operation) {
    String whole = payload.substring(0, lastBoundary(payload));
    return operation.dialect() != Dialect.OTHER && mayEnd(whole, operation);
  }

  /** Whether a stream of the operation is whole with these bytes. */
  static boolean mayEnd(String payload, Operation operation) {
    List<String> lines = List.of(payload.split("\r\n|\r|\n", -1));
    return switch (operation.dialect()) {
      case CHAT_COMPLETIONS -> lines.contains("data: [DONE]") || lines.contains("data:[DONE]");
      case MESSAGES ->
          lines.contains("event: message_stop") || lines.contains("event:message_stop");
      case OTHER -> !payload.isEmpty();
    };
  }

  /** A stream of one to six blocks, of any line ends; the last is whole. */
  static String randomEvents(Random random) {
    StringBuilder events = new StringBuilder();
    for (int i = 1 + random.nextInt(6); i > 0; i--) {
      String end = LINE_ENDS[random.nextInt(3)];
      for (int line = 1 + random.nextInt(3); line > 0; line--) {
        events
            .append(random.nextInt(5) == 0 ? ": ping" : "data: ")
            .append("x".repeat(random.nextInt(random.nextInt(20) == 0 ? 3000 : 12)))
            .append(end);
      }
      events.append(end);
    }
    return events.toString();
  }

  /** The payload in chunks that end at these offsets, without the last chunk. */
  static String chunks(String payload, List<Integer> ends) {
    StringBuilder wire = new StringBuilder();
    int from = 0;
    List<Integer> all = new ArrayList<>(ends);
    all.add(payload.length());
    for (int end : all) {
      if (end > from) {
        wire.append(Integer.toHexString(end - from)).append("\r\n");
        wire.append(payload, from, end).append("\r\n");
        from = end;
      }
    }
    return wire.toString();
  }

  /** The payload in chunks of any size, some with extensions, without the last chunk. */
  static String randomChunks(String payload, Random random) {
    StringBuilder wire = new StringBuilder();
    int from = 0;
    while (from < payload.length()) {
      int size = 1 + random.nextInt(random.nextBoolean() ? 8 : 2000);
      int to = Math.min(payload.length(), from + size);
      wire.append("0".repeat(random.nextInt(3)));
      String digits = Integer.toHexString(to - from);
      wire.append(random.nextBoolean() ? digits : digits.toUpperCase(java.util.Locale.ROOT));
      wire.append(random.nextInt(5) == 0 ? ";ext=\"1\"" : "").append("\r\n");
      wire.append(payload, from, to).append("\r\n");
      from = to;
    }
    return wire.toString();
  }

  /** A last chunk, some with extensions and trailers. */
  static String randomEnd(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> "0\r\nX-Trailer: 1\r\n\r\n";
      case 1 -> "000;x=y\r\n\r\n";
      default -> "0\r\n\r\n";
    };
  }

  /** Cuts bytes as reads might. */
  static List<String> randomReads(String wire, Random random) {
    List<String> reads = new ArrayList<>();
    int most = random.nextBoolean() ? 10 : 4000;
    for (int from = 0; from < wire.length(); ) {
      int to = Math.min(wire.length(), from + 1 + random.nextInt(most));
      reads.add(wire.substring(from, to));
      from = to;
    }
    return reads;
  }

  /** Where the last event of these bytes ends; 0 where none does. */
  static int lastBoundary(String payload) {
    int boundary = 0;
    boolean lineEmpty = true;
    for (int at = 0; at < payload.length(); at++) {
      char c = payload.charAt(at);
      if (c != '\r' && c != '\n') {
        lineEmpty = false;
        continue;
      }
      if (c == '\r' && payload.startsWith("\n", at + 1)) {
        at++;
      }
      boundary = lineEmpty ? at + 1 : boundary;
      lineEmpty = true;
    }
    return boundary;
  }

  /** How many events have ended, blocks of comments not counted. */
  static long countEvents(String payload) {
    long events = 0;
    boolean field = false;
    for (String line : payload.substring(0, lastBoundary(payload)).split("\r\n|\r|\n", -1)) {
      if (!line.isEmpty()) {
        field |= line.charAt(0) != ':';
      } else {
        events += field ? 1 : 0;
        field = false;
      }
    }
    return events;
  }
}
