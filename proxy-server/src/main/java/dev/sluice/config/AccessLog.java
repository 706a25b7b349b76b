package dev.sluice.config;

import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where the access log goes: one JSON object a line.
 *
 * @param sink the kind of place
 * @param file the file to append to, absolute; null unless {@code sink} is {@link Sink#FILE}
 */
public record AccessLog(Sink sink, @Nullable Path file) {
  /** No access log. */
  public static final AccessLog NONE = new AccessLog(Sink.NONE, null);

  /** To the standard output of the process. */
  public static final AccessLog STDOUT = new AccessLog(Sink.STDOUT, null);

  /** The kinds of place. */
  public enum Sink {
    NONE,
    STDOUT,
    FILE
  }

  /** Refuses a file without its path, and a path without a file. */
  public AccessLog {
    if ((sink == Sink.FILE) != (file != null)) {
      throw new IllegalArgumentException("file: " + file + " (expected: a path for FILE alone)");
    }
  }

  /** As it stands in the configuration: {@code none}, {@code stdout}, or the file. */
  @Override
  public String toString() {
    return file == null ? sink.name().toLowerCase(Locale.ROOT) : file.toString();
  }

  /** To the end of this file. */
  public static AccessLog to(Path file) {
    return new AccessLog(Sink.FILE, file.toAbsolutePath());
  }
}
