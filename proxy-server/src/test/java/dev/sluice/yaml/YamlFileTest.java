package dev.sluice.yaml;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files and texts that are no YAML document of the kind that is read. */
final class YamlFileTest {
  private static final Path FILE = Path.of("f.yaml");

  @TempDir private Path directory;

  @Test
  void aMissingFileIsAFault() {
    Path file = directory.resolve("none.yaml");
    assertThat(faultsOf(YamlFile.contents(file)))
        .containsExactly(file + ": no such file (expected: a readable file)");
  }

  @Test
  void aFileBelowAFileIsAFault() throws IOException {
    Path file = Files.createFile(directory.resolve("file")).resolve("below.yaml");
    assertThat(faultsOf(YamlFile.contents(file))).singleElement().asString().contains("cannot");
  }

  @Test
  void aDirectoryIsAFault() {
    assertThat(faultsOf(YamlFile.contents(directory)))
        .containsExactly(directory + ": a directory (expected: a readable file)");
  }

  @Test
  void aDeviceIsAFault() {
    assertThat(faultsOf(YamlFile.contents(Path.of("/dev/zero"))))
        .containsExactly("/dev/zero: a device or pipe (expected: a readable file)");
  }

  @Test
  void aFileOfTheLargestSizeIsReadAndOneByteMoreIsAFault() throws IOException {
    Path file = directory.resolve("large.yaml");
    Files.write(file, new byte[YamlFile.MAX_BYTES]);
    assertThat(YamlFile.contents(file)).isInstanceOf(Reading.Good.class);
    Files.write(file, new byte[YamlFile.MAX_BYTES + 1]);
    assertThat(faultsOf(YamlFile.contents(file)))
        .containsExactly(file + ": more than 8388608 bytes (expected: at most 8388608 bytes)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n\n", "# only a comment\n", "  ", "\ufeff"})
  void aFileWithoutADocumentIsAFault(String text) {
    assertThat(faults(text)).containsExactly("f.yaml: empty (expected: a YAML document)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--- ~\n", "~", "null", "--- null # nothing\n..."})
  void aDocumentOfNothingIsAFault(String text) {
    assertThat(faults(text)).containsExactly("f.yaml:1: nothing (expected: a map with a, b)");
  }

  @Test
  void bytesThatAreNotUtf8AreAFaultWithTheirLine() {
    assertThat(faults("a: 1\nb: caf\u00e9\n".getBytes(ISO_8859_1)))
        .containsExactly("f.yaml:2: bytes that are not UTF-8 (expected: UTF-8)");
  }

  @Test
  void aCharacterCutInTwoAtTheEndIsAFault() {
    assertThat(faults(new byte[] {'a', ':', ' ', (byte) 0xe2, (byte) 0x82}))
        .containsExactly("f.yaml:1: bytes that are not UTF-8 (expected: UTF-8)");
  }

  @Test
  void utf16IsAFault() {
    assertThat(faults("a: x\n".getBytes(UTF_16)))
        .containsExactly("f.yaml:1: bytes that are not UTF-8 (expected: UTF-8)");
  }

  @Test
  void aByteOrderMarkIsSkipped() {
    assertThat(faults("\ufeffa: x\n")).isEmpty();
  }

  @Test
  void anUnprintableCharacterIsAFaultWithItsLine() {
    assertThat(faults("a: 1\nb: \u0007\n"))
        .containsExactly("f.yaml:2: the character U+0007 (expected: printable text)");
  }

  @Test
  void badSyntaxIsAFaultWithItsLine() {
    assertThat(faults("a: x\nb: [y\nc: z\n"))
        .singleElement()
        .asString()
        .startsWith("f.yaml:3: ")
        .endsWith("at column 2 (expected: YAML)");
  }

  @Test
  void anUnknownYamlVersionIsAFault() {
    assertThat(faults("%YAML 3.0\n---\na: x\n")).hasSize(1);
  }

  @Test
  void aSecondDocumentIsAFault() {
    assertThat(faults("a: x\n---\na: y\n"))
        .containsExactly("f.yaml:2: a second document (expected: one document)");
  }

  @Test
  void aNameThatStandsTwiceIsAFault() {
    assertThat(faults("a: x\nb: y\n\"a\": z\n"))
        .containsExactly("f.yaml:3: a: stands twice (expected: once; it is on line 1 too)");
  }

  @Test
  void aListAsANameIsAFault() {
    assertThat(faults("a: x\n? [p, q]\n: y\n"))
        .containsExactly("f.yaml:2: a list or map as a name (expected: text as a name)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"!secret", "!!str", "!!java.lang.Runtime"})
  void aTagIsAFault(String tag) {
    assertThat(faults("b: y\na: " + tag + " x\n"))
        .singleElement()
        .asString()
        .startsWith("f.yaml:2: the tag ")
        .endsWith("(expected: no tag)");
  }

  @Test
  void anAliasStandsForItsAnchor() {
    assertThat(faults("a: &x text\nb: *x\n")).isEmpty();
  }

  @Test
  void anAliasWithoutAnAnchorIsAFault() {
    assertThat(faults("a: x\nb: *nowhere\n"))
        .containsExactly("f.yaml:2: *nowhere (expected: the name of an anchor above)");
  }

  @Test
  void aListThatHoldsItselfIsAFault() {
    assertThat(faults("a: &x [*x]\n"))
        .contains("f.yaml:1: *x (expected: the name of an anchor above)");
  }

  @Test
  void aliasesOfListsAreBounded() {
    String within = "a: &x [y]\nb: [" + "*x, ".repeat(TreeReader.MAX_COLLECTION_ALIASES) + "]\n";
    assertThat(faults(within))
        .containsExactly(
            "f.yaml:1: a: a list (expected: text)", "f.yaml:2: b: a list (expected: text)");
    String past = "a: &x [y]\nb: [" + "*x, ".repeat(TreeReader.MAX_COLLECTION_ALIASES + 1) + "]\n";
    assertThat(faults(past))
        .containsExactly(
            "f.yaml:2: one alias more (expected: at most 50 aliases of lists and maps)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{a: ", "- ", "? "})
  void nestingIsBounded(String opening) {
    assertThat(faults(opening.repeat(100_000)))
        .containsExactly("f.yaml:1: nested deeper (expected: at most 16 lists and maps deep)");
  }

  @Test
  void nestingUpToTheBoundIsRead() {
    int lists = TreeReader.MAX_DEPTH - 1;
    assertThat(faults("a: " + "[".repeat(lists) + "]".repeat(lists) + "\n"))
        .containsExactly("f.yaml:1: a: a list (expected: text)");
  }

  @Test
  void theFaultsOfAFileAreInItsOrder() {
    assertThat(faults("d: 1\na: [x]\nb: {y: z}\nc: 2\n"))
        .containsExactly(
            "f.yaml:1: d: unknown name (expected: one of a, b; did you mean a?)",
            "f.yaml:2: a: a list (expected: text)",
            "f.yaml:3: b: a map (expected: text)",
            "f.yaml:4: c: unknown name (expected: one of a, b; did you mean a?)");
  }

  private static List<String> faults(String text) {
    return faults(text.getBytes(UTF_8));
  }

  /** The faults of a document that may have the texts {@code a} and {@code b}. */
  private static List<String> faults(byte[] contents) {
    return faultsOf(
        YamlFile.parse(
            FILE,
            contents,
            root -> {
              Fields fields = root.fields("a", "b");
              return fields.optional("a").text("text", text -> true, "")
                  + fields.optional("b").text("text", text -> true, "");
            }));
  }

  private static List<String> faultsOf(Reading<?> reading) {
    List<String> faults = new ArrayList<>();
    if (reading instanceof Reading.Faulty<?> faulty) {
      faulty.faults().forEach(fault -> faults.add(fault.toString()));
    }
    return faults;
  }
}
