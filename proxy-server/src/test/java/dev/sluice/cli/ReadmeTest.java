package dev.sluice.cli;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Reason;
import dev.sluice.lifecycle.ConfigFiles;
import dev.sluice.lifecycle.GoodFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the README says of configuration, commands and errors is what the process knows. */
final class ReadmeTest {
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern UNKNOWN_NAME =
      Pattern.compile("[0-9]+: (.*)nobody: unknown name \\(expected: one of ([^;)]+)");

  @TempDir private Path directory;
  private String readme = "";
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void readReadme() throws IOException {
    readme = Files.readString(Path.of("../README.md"));
  }

  @Test
  void theExampleOfBothFilesIsWithoutFault() throws IOException {
    Files.writeString(directory.resolve("sluice.yaml"), yaml("sluice.yaml"));
    Files.writeString(directory.resolve("keys.yaml"), yaml("keys.yaml"));

    assertThat(check()).as(err.toString()).isZero();
    assertThat(out.toString()).contains("plans: 2, models: 2, operations: 3").contains("keys: 1");
  }

  @Test
  void theTableOfTheConfigurationHasEveryNameAndNoOther() throws IOException {
    Files.writeString(
        directory.resolve("sluice.yaml"),
        """
        nobody: 1
        keys: keys.yaml
        limits: {nobody: 1}
        plans: {<name>: {nobody: 1}}
        models: {<id>: {nobody: 1, upstreams: [{nobody: 1}], timeouts: {nobody: 1}, probe: {nobody: 1}}}
        operations: {/v1/path: {nobody: 1}}
        tracing: {nobody: 1}
        """);
    Files.writeString(
        directory.resolve("keys.yaml"),
        """
        nobody: 1
        subscriptions: {<name>: {nobody: 1}}
        keys: [{nobody: 1}]
        """);

    assertThat(check()).isEqualTo(2);
    Set<String> known = new TreeSet<>();
    err.toString().lines().forEach(fault -> known.addAll(knownNames(fault)));

    Set<String> rows = rows();
    assertThat(known).containsAll(rows);
    assertThat(known)
        .allSatisfy(
            name -> assertThat(rows).anyMatch(row -> row.equals(name) || isBelow(row, name)));
  }

  private static boolean isBelow(String name, String above) {
    return name.startsWith(above + ".") || name.startsWith(above + "[");
  }

  private static List<String> knownNames(String fault) {
    Matcher matcher = UNKNOWN_NAME.matcher(fault);
    if (!matcher.find()) {
      return List.of();
    }
    String above = matcher.group(1).replace("[0]", "[]").replace("/v1/path", "<path>");
    return Arrays.stream(matcher.group(2).split(", ")).map(name -> above + name).toList();
  }

  /** The names in the first column of both tables of configuration. */
  private Set<String> rows() {
    String start = "| `";
    return section("\n## Configuration\n")
        .lines()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length(), line.indexOf('`', start.length())))
        .filter(name -> !name.endsWith(">")) // what one plan, model or operation is
        .collect(toCollection(TreeSet::new));
  }

  @Test
  void theTableOfErrorsHasEveryReasonWithItsStatusAndType() {
    List<String> told = new ArrayList<>();
    section("\n## The contract\n")
        .lines()
        .filter(line -> line.matches("\\| [0-9]{3} \\| .*"))
        .map(line -> line.split(" \\| "))
        .forEach(
            cells ->
                CODE.matcher(cells[2])
                    .results()
                    .forEach(
                        reason -> told.add(cells[0].substring(2) + cells[1] + reason.group(1))));

    assertThat(told)
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(Reason.values())
                .map(
                    reason ->
                        reason.status() + "`" + reason.type().wireName() + "`" + reason.label())
                .toList());
  }

  @Test
  void theTableOfCommandsHasEveryCommand() {
    String commands = section("\n## Command line\n");

    assertThat(commandNames(commandLine(), "sluice"))
        .allSatisfy(command -> assertThat(commands).contains("| `" + command));
  }

  private static List<String> commandNames(CommandLine command, String name) {
    if (command.getSubcommands().isEmpty()) {
      return List.of(name);
    }
    return command.getSubcommands().entrySet().stream()
        .flatMap(below -> commandNames(below.getValue(), name + " " + below.getKey()).stream())
        .toList();
  }

  private String yaml(String file) {
    return "# " + file + section("\n```yaml\n# " + file, "\n```\n");
  }

  private String section(String heading) {
    return section(heading, "\n## ");
  }

  private String section(String from, String to) {
    assertThat(readme).containsOnlyOnce(from);
    int start = readme.indexOf(from) + from.length();
    return readme.substring(start, readme.indexOf(to, start));
  }

  private int check() {
    return commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute("check", "--config", directory.resolve("sluice.yaml").toString());
  }

  private static CommandLine commandLine() {
    return Sluice.commandLine(
        Map.of("SMALL_API_KEY", "up-secret"),
        InputStream.nullInputStream(),
        Instant.EPOCH,
        new NothingStarts());
  }

  private static final class NothingStarts implements Start {
    @Override
    public void prepare() {}

    @Override
    public int serve(ConfigFiles files, GoodFiles read) {
      throw new AssertionError("not asked for");
    }

    @Override
    public int demo(int port, int adminPort, PrintWriter out) {
      throw new AssertionError("not asked for");
    }

    @Override
    public int demoUpstream(int port, PrintWriter out) {
      throw new AssertionError("not asked for");
    }
  }
}
