package dev.sluice.message;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The one pass over a request body. */
@State(Scope.Thread)
public class InspectionBenchmark {
  /** What is sent. */
  public enum Content {
    /** A conversation of 2 KB. */
    CHAT_2_KB(2_000, 0),
    /** A conversation of 100 KB. */
    CHAT_100_KB(100_000, 0),
    /** A short conversation with an image of 4 MB, base64 included. */
    IMAGE_4_MB(200, 3_000_000);

    private final int textBytes;
    private final int imageBytes;

    Content(int textBytes, int imageBytes) {
      this.textBytes = textBytes;
      this.imageBytes = imageBytes;
    }
  }

  @Param public Content content;

  /** Invalid is only the end, so that both are passed over whole. */
  @Param({"true", "false"})
  public boolean valid;

  private byte[] body;

  @Setup
  public void write() {
    StringBuilder json = new StringBuilder("{\"model\":\"small\",\"stream\":true,\"messages\":[");
    String turn = "The quick brown fox \\\"jumps\\\" over the lazy dog.\\n".repeat(5);
    for (int i = 0; json.length() < content.textBytes; i++) {
      json.append(i == 0 ? "" : ",");
      json.append("{\"role\":\"").append(i % 2 == 0 ? "user" : "assistant");
      json.append("\",\"content\":\"").append(turn).append("\"}");
    }
    if (content.imageBytes > 0) {
      byte[] image = new byte[content.imageBytes];
      new Random(1).nextBytes(image);
      json.append(
          ",{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":");
      json.append("\"data:image/png;base64,").append(Base64.getEncoder().encodeToString(image));
      json.append("\"}}]}");
    }
    json.append(valid ? "]}" : "]}}");
    body = json.toString().getBytes(StandardCharsets.US_ASCII);
    if (inspect() instanceof RequestFacts != valid) {
      throw new IllegalStateException("inspection: " + inspect() + " (expected: valid " + valid);
    }
  }

  @Benchmark
  public Inspection inspect() {
    return RequestInspector.inspect(body, 0, body.length, Operation.CHAT_COMPLETIONS);
  }
}
