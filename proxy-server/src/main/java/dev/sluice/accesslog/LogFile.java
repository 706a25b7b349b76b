package dev.sluice.accesslog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A file that is appended to, and opened anew where it was moved away or deleted. */
final class LogFile implements LogOutput {
  private final Path path;
  private FileChannel channel;

  /*
   * Device and inode of what stood under the path just before it was opened, or just after where
   * nothing did. Before, so that a file that is moved away between the two is noticed by the next
   * check. Null on platforms without file keys: there the file is opened anew at every check.
   */
  private @Nullable Object fileKey;

  /**
   * Opens the file, making it where there is none.
   *
   * @throws IOException when it cannot be appended to
   */
  LogFile(Path path) throws IOException {
    this.path = path;
    Object found = keyOf(path);
    this.channel = open(path);
    this.fileKey = found == null ? keyOf(path) : found;
  }

  @Override
  public boolean reopenIfMoved() throws IOException {
    Object found = keyOf(path);
    if (found != null && found.equals(fileKey)) {
      return false;
    }
    FileChannel old = channel;
    channel = open(path);
    fileKey = found == null ? keyOf(path) : found;
    old.close();
    return true;
  }

  @Override
  public void write(ByteBuffer bytes) throws IOException {
    channel.write(bytes);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  private static FileChannel open(Path path) throws IOException {
    return FileChannel.open(
        path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
  }

  private static @Nullable Object keyOf(Path path) throws IOException {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    } catch (NoSuchFileException e) {
      return null;
    }
  }
}
