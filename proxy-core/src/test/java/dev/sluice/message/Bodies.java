package dev.sluice.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;

/** Request bodies for tests, written with single quotes, and what their inspection came to. */
final class Bodies {
  private Bodies() {}

  static byte[] bytes(String quoted) {
    return quoted.replace('\'', '"').getBytes(UTF_8);
  }

  /** Bytes between two texts, for what no string can hold. */
  static byte[] bytes(String before, byte[] middle, String after) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.writeBytes(bytes(before));
    body.writeBytes(middle);
    body.writeBytes(bytes(after));
    return body.toByteArray();
  }

  /** A body with these messages. */
  static String messages(String... messages) {
    return "{'model':'m','messages':[" + String.join(",", messages) + "]}";
  }

  /** A body with one message that has these parts. */
  static String parts(String... parts) {
    return messages("{'role':'user','content':[" + String.join(",", parts) + "]}");
  }

  static Inspection inspect(byte[] body, Operation operation) {
    return RequestInspector.inspect(body, 0, body.length, operation);
  }

  static void accepted(String quoted) {
    for (Operation operation : Operation.BUILT_IN) {
      accepted(quoted, operation);
    }
  }

  static RequestFacts accepted(String quoted, Operation operation) {
    Inspection inspection = inspect(bytes(quoted), operation);
    assertThat(inspection).as(cut(quoted)).isInstanceOf(RequestFacts.class);
    return (RequestFacts) inspection;
  }

  /** Asserts that both built-in operations refuse a body in the same words. */
  static void refused(String quoted, Reason reason, String message) {
    for (Operation operation : Operation.BUILT_IN) {
      Failure failure = failure(bytes(quoted), operation);
      assertThat(failure.reason()).as(cut(quoted)).isEqualTo(reason);
      assertThat(failure.message()).as(cut(quoted)).startsWith(message);
    }
  }

  static Failure failure(byte[] body, Operation operation) {
    Inspection inspection = inspect(body, operation);
    assertThat(inspection).as(cut(new String(body, UTF_8))).isInstanceOf(Refusal.class);
    return ((Refusal) inspection).failure();
  }

  /** {@code prefix}, then a byte so many times, then {@code suffix}. */
  static byte[] filled(String prefix, char filler, int count, String suffix) {
    byte[] middle = new byte[count];
    Arrays.fill(middle, (byte) filler);
    return bytes(prefix, middle, suffix);
  }

  /** One value of each JSON type, by the name of the type. */
  static List<String> valuesOf(String type) {
    return switch (type) {
      case "string" -> List.of("''", "'x'");
      case "integer" -> List.of("0", "-7", "1.0", "1e2", "1.50e1", "2E+3");
      case "fraction" -> List.of("0.5", "-1.25", "1e-2", "1.55e1");
      case "boolean" -> List.of("true", "false");
      case "null" -> List.of("null");
      case "object" -> List.of("{}", "{'a':1}");
      case "array" -> List.of("[]", "['a',1]");
      default -> throw new IllegalArgumentException("type: " + type);
    };
  }

  private static String cut(String text) {
    return text.substring(0, Math.min(200, text.length()));
  }
}
