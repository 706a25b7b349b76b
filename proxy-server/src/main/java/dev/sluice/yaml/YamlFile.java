package dev.sluice.yaml;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads YAML files. Never throws for what is in a file, or for a file that is not there. */
public final class YamlFile {
  /** Most bytes of a file. */
  public static final int MAX_BYTES = 8 << 20;

  private static final String EXPECTED_FILE = "a readable file";

  private YamlFile() {}

  /** The bytes of a file, or why they cannot be had. Blocks. */
  public static Reading<byte[]> contents(Path file) {
    Faults faults = new Faults(file);
    if (Files.isDirectory(file)) {
      faults.add("a directory", EXPECTED_FILE);
    } else if (Files.exists(file) && !Files.isRegularFile(file)) {
      // A pipe without a writer would block for ever.
      faults.add("a device or pipe", EXPECTED_FILE);
    } else {
      try (InputStream in = Files.newInputStream(file)) {
        byte[] contents = in.readNBytes(MAX_BYTES + 1);
        if (contents.length <= MAX_BYTES) {
          return new Reading.Good<>(contents);
        }
        faults.add("more than " + MAX_BYTES + " bytes", "at most " + MAX_BYTES + " bytes");
      } catch (NoSuchFileException e) {
        faults.add("no such file", EXPECTED_FILE);
      } catch (AccessDeniedException e) {
        faults.add("may not be read by this user", EXPECTED_FILE);
      } catch (IOException e) {
        faults.add("cannot be read, " + e.getMessage(), EXPECTED_FILE);
      }
    }
    return faults.faulty();
  }

  /**
   * Parses the bytes of a file and gives the document to {@code shape}, which turns it into what it
   * holds and notes the faults it finds on the values themselves. All faults are reported together;
   * what {@code shape} returned counts only where there are none.
   *
   * @param file names the file in faults; it is not touched
   */
  public static <T> Reading<T> parse(Path file, byte[] contents, Function<Value, T> shape) {
    Faults faults = new Faults(file);
    @Nullable Node root = new TreeReader(faults).read(contents);
    return root == null
        ? faults.faulty()
        : faults.reading(shape.apply(new Value(faults, "", root)));
  }
}
