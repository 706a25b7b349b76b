package dev.sluice.yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A file that is looked at again and again, and read when it may have changed. Whether what it
 * holds is new is for its reader to say. One thread at a time.
 */
public final class WatchedFile {
  /*
   * Every POLL_MILLIS the file's stamp (time, size, identity, through symbolic links) is compared
   * with that of the version read last. Asking is what works for files that are renamed into place,
   * written in place, or behind a link that is swapped, on every file system.
   *
   * A change that is seen is read one poll later: a writer that is half through has until then to
   * finish. One poll and no more, or a file that is written all the time would never be read. So a
   * change is read after two polls at most.
   *
   * A file system's clock ticks in steps. While a file is younger than YOUNG, a second change can
   * hide in the step of the first, so it is read at every poll.
   */

  /** How often a file is looked at, in milliseconds. */
  public static final long POLL_MILLIS = 500;

  private static final Duration YOUNG = Duration.ofSeconds(3);

  private final Path file;
  private final InstantSource clock;
  private @Nullable Stamp read;
  private boolean waited;

  /** Tells two versions of a file apart, mostly. */
  private record Stamp(long modifiedMillis, long modifiedNanos, long bytes, Object identity) {}

  /**
   * A file of which nothing was read yet.
   *
   * @param clock what the file's age is measured by
   */
  public WatchedFile(Path file, InstantSource clock) {
    this.file = file;
    this.clock = clock;
  }

  /** The file. */
  public Path file() {
    return file;
  }

  /**
   * Looks at the file once.
   *
   * @return what it holds, or why that cannot be had; null where it holds what it did, or where a
   *     change is to be read at the next poll
   */
  public @Nullable Reading<byte[]> poll() {
    Stamp stamp = stamp();
    boolean changed = stamp == null || !stamp.equals(read);
    if (changed && !waited) {
      waited = true;
      return null;
    }
    waited = false;
    return changed || isYoung(stamp) ? read(stamp) : null;
  }

  /** Reads the file now, whether it has changed or not. */
  public Reading<byte[]> read() {
    waited = false;
    return read(stamp());
  }

  /** The stamp is of the moment before: what changes after it is seen at the next poll. */
  private Reading<byte[]> read(@Nullable Stamp stamp) {
    Reading<byte[]> contents = YamlFile.contents(file);
    read = contents instanceof Reading.Good<byte[]> ? stamp : null;
    return contents;
  }

  private @Nullable Stamp stamp() {
    try {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      Object key = attributes.fileKey();
      return new Stamp(
          attributes.lastModifiedTime().toMillis(),
          attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS),
          attributes.size(),
          key == null ? file : key);
    } catch (IOException e) {
      return null;
    }
  }

  private boolean isYoung(@Nullable Stamp stamp) {
    return stamp != null && stamp.modifiedMillis() > clock.instant().minus(YOUNG).toEpochMilli();
  }
}
