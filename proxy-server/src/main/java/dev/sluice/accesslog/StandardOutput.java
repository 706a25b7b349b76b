package dev.sluice.accesslog;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The process's standard output. Never closed. */
final class StandardOutput implements LogOutput {
  private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

  @Override
  public boolean reopenIfMoved() {
    return false;
  }

  @Override
  public void write(ByteBuffer bytes) throws IOException {
    out.getChannel().write(bytes);
  }

  @Override
  public void close() {}
}
