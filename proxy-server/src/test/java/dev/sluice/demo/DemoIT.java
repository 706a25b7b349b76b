package dev.sluice.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The demo as a newcomer meets it: what it prints is pasted, all of it. */
class DemoIT {
  private static final Path JAR = Path.of(System.getProperty("sluice.jar", "target/sluice.jar"));

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static Process demo;
  private static List<Command> commands;

  /** What one printed command asks for. */
  private record Command(URI uri, @Nullable String key, @Nullable String body) {}

  @BeforeAll
  static void start() throws IOException {
    demo =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                JAR.toAbsolutePath().toString(),
                "demo",
                "--port=0",
                "--admin-port=0")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    StringBuilder printed = new StringBuilder();
    BufferedReader out = new BufferedReader(new InputStreamReader(demo.getInputStream(), UTF_8));
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      printed.append(line).append('\n');
      if (line.startsWith("Stop it:")) {
        break;
      }
    }
    commands = commands(printed.toString());
  }

  @AfterAll
  static void stop() throws InterruptedException {
    demo.destroy();
    assertThat(demo.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(demo.exitValue()).isZero();
  }

  @Test
  void whatItPrintsIsAnsweredAsItSays() {
    assertThat(commands).hasSize(7);
    List<Command> pasted = new ArrayList<>(commands);
    Command onTwoSlots = pasted.remove(4);
    pasted.addAll(List.of(onTwoSlots, onTwoSlots, onTwoSlots)); // the shell's loop

    List<HttpResponse<String>> answers = answers(pasted);

    assertThat(answers.subList(0, 6))
        .extracting(HttpResponse::statusCode)
        .containsExactly(200, 200, 200, 200, 403, 200);
    assertThat(answers.get(0).body()).contains("\"small\"", "\"big\"");
    assertThat(answers.get(1).body()).contains("You said: “Hello there”.");
    assertThat(answers.get(2).body()).endsWith("data: [DONE]\n\n");
    assertThat(answers.get(3).body()).endsWith("data: {\"type\":\"message_stop\"}\n\n");
    assertThat(answers.get(5).body()).contains("sluice_stream_slots_in_use");
    assertThat(answers.subList(6, 9))
        .extracting(HttpResponse::statusCode)
        .containsExactlyInAnyOrder(200, 200, 429);
  }

  private static List<Command> commands(String printed) {
    List<Command> commands = new ArrayList<>();
    for (String command : printed.replace("\\\n", "").lines().toList()) {
      if (command.contains("curl ")) {
        commands.add(
            new Command(
                URI.create(String.valueOf(first("(http://\\S+)", command))),
                first("'Authorization: Bearer ([^']+)'", command),
                first("-d '([^']*)'", command)));
      }
    }
    return commands;
  }

  private static @Nullable String first(String regex, String text) {
    Matcher matcher = Pattern.compile(regex).matcher(text);
    return matcher.find() ? matcher.group(1) : null;
  }

  /** The answers to commands that are sent at once. */
  private static List<HttpResponse<String>> answers(List<Command> commands) {
    return commands.stream()
        .map(command -> HTTP.sendAsync(request(command), BodyHandlers.ofString()))
        .toList()
        .stream()
        .map(CompletableFuture::join)
        .toList();
  }

  private static HttpRequest request(Command command) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(command.uri()).timeout(Duration.ofSeconds(30));
    if (command.key() != null) {
      request.header("Authorization", "Bearer " + command.key());
    }
    if (command.body() != null) {
      request
          .header("Content-Type", "application/json")
          .POST(BodyPublishers.ofString(command.body()));
    }
    return request.build();
  }
}
